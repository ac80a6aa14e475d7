"""Which methods there are, in which versions and groups, and what is said of them: lines of docs/acceptance/kernel.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting, run_noted
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Stateless
from tests.support.refusal import refusal

PLUGIN = '''
import contextlib

import rpcgw as rpc


class Helpers:
    def inherited_helper(self) -> int:
        return 0


class Store:
    greeting = "from the store"


@contextlib.asynccontextmanager
async def lifespan():
    yield Store()


@rpc.procedure("Shop")
class Shop(Helpers):
    def find(self) -> int:
        return 1

    def old(self) -> int:
        return 1

    @staticmethod
    def static() -> str:
        return "static"

    @rpc.hidden
    def ignored(self) -> int:
        return 0

    def _private(self) -> int:
        return 0

    def __call__(self) -> int:
        return 0


@rpc.procedure("Shop", version=2, removed=["old"])
class Shop2:
    def find(self) -> int:
        return 2


@rpc.procedure("Shop", version=10)
class Shop10:
    def late(self) -> int:
        return 10


@rpc.procedure("")
class Bare:
    def alone(self) -> str:
        return "no alias"


@rpc.procedure()
class Named:
    def run(self) -> str:
        return "the name of the class"


@rpc.procedure("Base")
class Base:
    def say(self) -> str:
        return "base"

    def kept(self) -> str:
        return "kept"


@rpc.procedure("Base")
class Better(Base):
    def say(self) -> str:
        return "better"


@rpc.procedure("Groups", groups=["one"])
class Groups:
    def both(self) -> str:
        return "both"

    @rpc.groups("one", with_default=False)
    def one(self) -> str:
        return "one"

    @rpc.groups("two")
    def two(self) -> str:
        return "two"


@rpc.procedure("Told")
class Told:
    def __init__(self, store: Store) -> None:
        self._store = store

    def told(self, name: str, ctx: rpc.CallContext, number: int = 3) -> str:
        """Say what is known.

        In more words.

        Args:
            name: Whose name it is.
            number: How often.

        Returns:
            What was said.

        Raises:
            rpc.DataNotFound: Nothing is known.

        .. deprecated:: 2
        """
        return f"{name} {self._store.greeting} {ctx.method}"


plugin = rpc.Plugin(
    procedures=[Shop, Shop2, Shop10, Bare, Named, Base, Better, Groups, Told], lifespan=lifespan
)
'''
ROUTES = {
    "rpc": {"resource": "rpc", "prefix": "/rpc"},
    "one": {"resource": "rpc", "prefix": "/one", "defaults": {"api_group": "one"}},
    "two": {"resource": "rpc", "prefix": "/two", "defaults": {"api_group": "two"}},
    "mcp": {"resource": "mcp", "prefix": "/mcp"},
}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    """Procedures of all kinds."""
    with daemon(routes=ROUTES, plugins={"shop.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def call(served: Daemon, method: str, params: Any = None, path: str = "/rpc") -> Any:
    """The result of a call, or the code of its error."""
    answer = served.post(path, {"id": 1, "method": method, **({} if params is None else {"params": params})}).json()
    return answer["result"] if "result" in answer else answer["error"]["code"]


def methods(served: Daemon, path: str) -> set[str]:
    """What a document says that there is."""
    return {method["name"] for method in served.get(path).json()["methods"]}


def test_names(served: Daemon) -> None:
    """A-RPC-43: the alias and the method; the method alone for an empty alias; the class's name without any."""
    assert call(served, "Shop.find") == 1
    assert call(served, "alone") == "no alias"
    assert call(served, "Named.run") == "the name of the class"


def test_ping(served: Daemon) -> None:
    """A-RPC-44: it answers in each version of `general`, and nowhere else."""
    assert call(served, "ping") == call(served, "ping", path="/rpc/v10") == "PONG"
    assert call(served, "ping", path="/one") == -32601


def test_what_is_exposed(served: Daemon) -> None:
    """A-RPC-45: public methods that the class itself, or a marked base, declares and does not hide."""
    assert {name for name in methods(served, "/rpc") if name.startswith("Shop.")} == {
        "Shop.find",
        "Shop.old",
        "Shop.static",
    }
    for name in ("Shop.ignored", "Shop._private", "Shop.__call__", "Shop.__init__", "Shop.inherited_helper"):
        assert call(served, name) == -32601
    assert call(served, "Shop.static") == "static"


def test_a_subclass_overrides(served: Daemon) -> None:
    """A-RPC-46: what it declares anew is its own, the rest its base's."""
    assert (call(served, "Base.say"), call(served, "Base.kept")) == ("better", "kept")


def test_one_name_twice(record_property: Note) -> None:
    """A-RPC-46: two classes with one method of a version keep the daemon from starting; both places are told."""
    plugin = """
    import rpcgw as rpc

    @rpc.procedure("Twice")
    class One:
        def run(self) -> int:
            return 1

    @rpc.procedure("Twice")
    class Two:
        def run(self) -> int:
            return 2
    """
    refused = refusal(plugins={"twice.py": plugin})
    lines = refused.about("Twice.run", "twice.py")
    run_noted(record_property, "rpcgw serve", refused.code, refused.said.partition("\n")[0] if lines else "")
    assert refused.code == 78
    assert lines


def test_versions(served: Daemon) -> None:
    """A-RPC-47: each begins with what the one before it has; 10 comes after 2; what is removed stays removed."""
    assert [call(served, "Shop.find", path=f"/rpc{path}") for path in ("", "/v1", "/v2", "/v10")] == [1, 1, 2, 2]
    assert [call(served, "Shop.old", path=f"/rpc{path}") for path in ("", "/v2", "/v10")] == [1, -32601, -32601]
    assert [call(served, "Shop.late", path=f"/rpc{path}") for path in ("", "/v2", "/v10")] == [-32601, -32601, 10]
    assert served.get("/rpc?info").json()["info"]["x-versions"] == ["v1", "v2", "v10"]
    assert call(served, "Shop.find", path="/rpc/v3") == -32601


def test_groups(served: Daemon) -> None:
    """A-RPC-48: a method's own mark stands instead of its class's; `general` comes in addition unless told otherwise."""
    expected = {
        "/rpc": ["both", -32601, "two"],
        "/one": ["both", "one", -32601],
        "/two": [-32601, -32601, "two"],
    }
    for path, results in expected.items():
        assert [call(served, f"Groups.{name}", path=path) for name in ("both", "one", "two")] == results


def test_what_is_told(served: Daemon) -> None:
    """A-RPC-49: what the docstring says of method, parameters, result and errors, and that it is deprecated."""
    [told] = [method for method in served.get("/rpc").json()["methods"] if method["name"] == "Told.told"]
    assert told["description"] == "Say what is known.\n\nIn more words."
    assert [param["description"] for param in told["params"]] == ["Whose name it is.", "How often."]
    assert told["result"]["description"] == "What was said."
    assert told["errors"] == [{"code": -32404, "message": 'Api method returned error "Data not found"'}]
    assert told["deprecated"] is True
    assert Stateless(served).tools()["Told.told"]["description"] == told["description"]


def test_what_is_injected(served: Daemon) -> None:
    """A-RPC-50: what a plugin's lifespan and the call itself bring is no parameter, and cannot be sent as one."""
    assert call(served, "Told.told", {"name": "Ada", "ctx": {"method": "mine"}}) == "Ada from the store Told.told"
    assert call(served, "Told.told", ["Ada", 3, {"method": "mine"}]) == -32602
    schema = Stateless(served).tools()["Told.told"]["inputSchema"]
    assert list(schema["properties"]) == ["name", "number"]


def test_names_that_are_refused(record_property: Note) -> None:
    """A-RPC-51: a name that MCP has no place for keeps the daemon from starting."""
    for alias in ("Tool box", "n" * 125):
        plugin = f"""
        import rpcgw as rpc

        @rpc.procedure("{alias}")
        class Odd:
            def run(self) -> int:
                return 1
        """
        refused = refusal(plugins={"odd.py": plugin})
        run_noted(record_property, "rpcgw serve", refused.code, refused.said.partition("\n")[0])
        assert refused.code == 78
        assert refused.about("odd.py", f"{alias}.run")
