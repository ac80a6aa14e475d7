"""`/rpc`, from an inbound request to the reply and what runs after it."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from multidict import CIMultiDict

from rpcgw.access.guards import Guards
from rpcgw.access.policies import rpc_policy
from rpcgw.access.tokens import compile_tokens
from rpcgw.api.context import Principal
from rpcgw.api.errors import MethodNotFound
from rpcgw.endpoints.rpc import Services, answer, entrances, facts_of
from rpcgw.exchange import Entrance, Head, Inbound, Reply
from rpcgw.kernel.call import Call, Done, Outcome
from rpcgw.kernel.failure import render
from rpcgw.protocol.jsonrpc import Endpoint, Limits

CALLER = Principal("crm")
TOKENS = compile_tokens("Ufo-RPC-Token", [("crm", hashlib.sha256(b"s3cret").hexdigest(), None)])


class World:
    """The ports of an endpoint, in memory: an executor that records, ids that count, a clock that stands still.

    `echo` answers its params, `gate` waits for `opened`, everything else does not exist.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.story: list[str] = []
        self.running = 0
        self.most = 0
        self.opened = asyncio.Event()

    async def execute(self, call: Call) -> Outcome:
        self.calls.append(call)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._run(call)
        finally:
            self.running -= 1

    async def _run(self, call: Call) -> Outcome:
        await asyncio.sleep(0)
        if call.method == "gate":
            await self.opened.wait()
        if call.refused is not None:
            return render(call.refused, exposed=False)
        if call.version == 0 or call.method not in {"echo", "gate"}:
            return render(MethodNotFound(), exposed=False)
        self.story.append(f"run {call.params}")
        return Done(json.dumps(call.params).encode(), after=self._after(call))

    def begin(self, call: Call) -> Coroutine[Any, Any, Outcome]:
        return self.execute(call)

    def _after(self, call: Call) -> Callable[[], Awaitable[None]]:
        async def after() -> None:
            self.story.append(f"after {call.params}")

        return after

    def token(self) -> str:
        return f"own-{len(self.calls)}"

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    def event(self, name: str, /, **fields: Any) -> None:
        self.events.append((name, fields))

    def call_started(self, call: Call) -> None: ...
    def call_finished(self, call: Call, outcome: Outcome, seconds: float) -> None: ...
    def call_failed(self, call: Call, cause: BaseException, code: int) -> None: ...

    @property
    def services(self) -> Services:
        return Services(executor=self, ids=self, clock=self, observer=self)


def document(
    version: int,
    locale: str,
    head_only: bool,
    granted: frozenset[str] = frozenset(),
    off: frozenset[str] = frozenset(),
) -> bytes | None:
    del granted, off
    return json.dumps([version, locale, head_only]).encode() if version in {1, 2} else None


ENDPOINT = Endpoint(
    name="general_ufo_rpc_api_server",
    prefix="/rpc",
    group="general",
    versions=(1, 2),
    document=document,
    negotiate=lambda accepted: "uk" if accepted == "uk" else "en",
    limits=Limits(max_body_bytes=1000, max_batch=5, batch_concurrency=2),
    deadlines=frozenset({"slow"}),
)


@pytest.fixture
def world() -> World:
    return World()


def inbound(body: Any, method: str = "POST", path: str = "/rpc", query: str = "", **fields: str) -> Inbound:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    head = Head(method, path, query, CIMultiDict({"Host": "localhost", **named}))
    return Inbound(head, body if isinstance(body, bytes) else json.dumps(body).encode())


async def post(world: World, body: Any, endpoint: Endpoint = ENDPOINT, **fields: str) -> Reply:
    return await answer(endpoint, world.services, facts_of(endpoint), CALLER, inbound(body, **fields))


def read(reply: Reply) -> Any:
    assert isinstance(reply.body, bytes)
    return json.loads(reply.body) if reply.body else None


def error_of(reply: Reply) -> tuple[int, int, object]:
    body = read(reply)
    return reply.status, body["error"]["code"], body["id"]


async def test_single(world: World) -> None:
    """A call is answered with its result, as JSON."""
    reply = await post(world, {"jsonrpc": "2.0", "method": "echo", "params": {"a": 1}, "id": 7})
    assert (reply.status, reply.headers) == (200, (("Content-Type", "application/json"),))
    assert reply.body == b'{"id":7,"result":{"a": 1},"jsonrpc":"2.0"}'


async def test_call(world: World) -> None:
    """T-20: the executor is told group, version, caller and language, and an id that is not the client's."""
    rpc = {"timeout": 30, "ignoreCache": True, "rayId": "chain"}
    await post(
        world,
        {"method": "echo", "params": {"a": 1, "$rpc": rpc}, "id": "x"},
        replace(ENDPOINT, version=2),
        Accept_Language="uk",
    )
    assert world.calls == [
        Call(
            method="echo",
            group="general",
            version=2,
            params={"a": 1},
            id="own-0",
            surface="rpc",
            principal=CALLER,
            locale="uk",
            ray_id="chain",
            timeout=30,
            ignore_cache=True,
        )
    ]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param({"id": "abc"}, "abc", id="the client's id"),
        pytest.param({"id": 0}, "0", id="the client's id in digits"),
        pytest.param({"id": "abc", "params": {"$rpc": {"rayId": 5}}}, "5", id="unless $rpc.rayId says otherwise"),
        pytest.param({"id": ""}, "own-0", id="an empty id says nothing"),
        pytest.param({"id": "x" * 201}, "own-0", id="a long id would fill the log"),
    ],
)
async def test_ray_id(world: World, request_: dict[str, Any], expected: str) -> None:
    """A chain of calls goes by the client's id where nothing else is said."""
    await post(world, {"method": "echo", **request_})
    assert world.calls[0].ray_id == expected


async def test_failure(world: World) -> None:
    """What a method, or the lack of one, makes of a call is HTTP 200."""
    assert error_of(await post(world, {"method": "nope", "id": 1})) == (200, -32601, 1)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'{"method":', (400, -32700, None), id="no JSON"),
        pytest.param({"method": "echo", "id": None}, (200, -32600, None), id="no envelope"),
        pytest.param([], (200, -32600, None), id="an empty batch"),
        pytest.param([{"method": "echo", "id": 1}] * 6, (200, -32301, None), id="a batch too large"),
        pytest.param(
            {"method": "echo", "id": 1, "params": {"$rpc": {"timeout": 1}}}, (200, -32602, 1), id="a bad $rpc"
        ),
    ],
)
async def test_fault(world: World, body: Any, expected: tuple[int, int, object]) -> None:
    """What cannot be run is one error, nothing runs, and the operator can see it."""
    assert error_of(await post(world, body)) == expected
    assert world.calls == []
    assert [(name, fields["code"]) for name, fields in world.events] == [("envelope.refused", expected[1])]


async def test_post_response_comes_after_the_answer(world: World) -> None:
    """T-18: what listens for the response runs when the reply's bytes are out."""
    reply = await post(world, {"method": "echo", "params": [1], "id": 1})
    assert world.story == ["run [1]"]
    assert reply.after is not None
    await reply.after()
    assert world.story == ["run [1]", "after [1]"]


async def test_notification(world: World) -> None:
    """A notification is 204 without a body, and runs after it."""
    reply = await post(world, {"method": "echo", "params": [1]})
    assert (reply.status, reply.body, reply.headers, world.calls) == (204, b"", (), [])
    assert reply.after is not None
    await reply.after()
    assert world.story == ["run [1]", "after [1]"]


@pytest.mark.parametrize("request_", [{"method": "nope"}, {"method": "echo", "params": {"$rpc": {"timeout": 1}}}])
async def test_failed_notification(world: World, request_: dict[str, Any]) -> None:
    """A notification never gets a body, whatever is wrong with it."""
    reply = await post(world, request_)
    assert (reply.status, reply.body) == (204, b"")
    if reply.after:
        await reply.after()


async def test_batch(world: World) -> None:
    """A batch is answered in its order, item by item; doubles stay, notifications have no entry."""
    reply = await post(
        world,
        [
            {"method": "echo", "params": [1], "id": "a"},
            7,
            {"method": "echo", "params": [2]},
            {"method": "nope", "id": "b"},
            {"method": "echo", "params": [3], "id": "a"},
        ],
    )
    assert reply.status == 200
    first, second, third, fourth = read(reply)
    assert first == {"id": "a", "result": [1], "jsonrpc": "2.0"}
    assert (second["id"], second["error"]["code"]) == (None, -32600)
    assert (third["id"], third["error"]["code"]) == ("b", -32601)
    assert fourth == {"id": "a", "result": [3], "jsonrpc": "2.0"}


async def test_batch_afterwards(world: World) -> None:
    """T-18: `rpc.post_response` once for each executed call of a batch; its notifications run after the answer."""
    reply = await post(
        world,
        [
            {"method": "echo", "params": ["note"]},
            {"method": "echo", "params": [1], "id": 1},
            {"method": "nope", "id": 2},
            {"method": "echo", "params": [3], "id": 3},
        ],
    )
    assert sorted(world.story) == ["run [1]", "run [3]"]
    assert reply.after is not None
    await reply.after()
    assert world.story[2:] == ["after [1]", "after [3]", "run ['note']", "after ['note']"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([{"method": "echo"}, {"method": "nope"}], id="notifications"),
        pytest.param([{"method": "echo", "params": {"$rpc": 1}}], id="a notification that cannot be run"),
    ],
)
async def test_batch_of_notifications(world: World, body: Any) -> None:
    """A batch that wants no answer gets 204 without a body."""
    reply = await post(world, body)
    assert (reply.status, reply.body) == (204, b"")


async def test_batch_concurrency(world: World) -> None:
    """No more than the limit runs at a time, and a slow item holds up no more than its own place."""
    body = [{"method": "gate", "id": 0}, *({"method": "echo", "params": [n], "id": n} for n in range(1, 5))]
    task = asyncio.create_task(post(world, body))
    async with asyncio.timeout(5):
        while len(world.story) < 4:
            await asyncio.sleep(0)
    assert not task.done()
    world.opened.set()
    assert [item["id"] for item in read(await task)] == [0, 1, 2, 3, 4]
    assert world.most == 2


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param({"method": "echo"}, 10.0, id="an item gets ten seconds"),
        pytest.param({"method": "echo", "params": {"$rpc": {"timeout": 60}}}, 60, id="or what it asks for"),
        pytest.param({"method": "slow"}, None, id="unless its method has a deadline of its own"),
    ],
)
async def test_batch_timeout(world: World, request_: dict[str, Any], expected: float | None) -> None:
    """A batch never waits for ever for an item."""
    await post(world, [{**request_, "id": 1}])
    assert world.calls[0].timeout == expected


async def test_cancelled_batch(world: World) -> None:
    """A batch whose request is cancelled leaves nothing running."""
    task = asyncio.create_task(post(world, [{"method": "gate", "id": 1}, {"method": "gate", "id": 2}]))
    async with asyncio.timeout(5):
        while world.running < 2:
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.running == 0


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("query", "head_only"), [("", False), ("info", True), ("info=1", True), ("x=1&info=", True), ("information", False)]
)
async def test_document(world: World, method: str, query: str, head_only: bool) -> None:
    """GET is the document of this version in the client's language; `?info` is its head."""
    second = replace(ENDPOINT, version=2)
    asked = inbound(b"", method, query=query, Accept_Language="uk")
    reply = await answer(second, world.services, facts_of(second), CALLER, asked)
    assert reply.status == 200
    assert read(reply) == [2, "uk", head_only]
    assert dict(reply.headers)["Content-Language"] == "uk"


def served(world: World, *, protected: bool = False) -> dict[str, Entrance]:
    policy = rpc_policy(Guards(), TOKENS, protected_api=protected, protected_doc=protected)
    return {entrance.pattern: entrance for entrance in entrances(ENDPOINT, policy, world.services)}


def test_entrances(world: World) -> None:
    """The prefix, each version of the group, and any other version are served, by the original's names."""
    assert {pattern: entrance.name for pattern, entrance in served(world).items()} == {
        "/rpc": "general_ufo_rpc_api_server",
        "/rpc/v1": "general_ufo_rpc_api_server_ver",
        "/rpc/v2": "general_ufo_rpc_api_server_ver",
        "/rpc/{ver}": "general_ufo_rpc_api_server_ver",
    }


@pytest.mark.parametrize(
    ("prefix", "expected"), [("", ["/", "/v1", "/v2", "/{ver}"]), ("/a", ["/a", "/a/v1", "/a/v2", "/a/{ver}"])]
)
def test_entrances_at(world: World, prefix: str, expected: list[str]) -> None:
    """An endpoint may stand at the root."""
    policy = rpc_policy(Guards(), TOKENS, protected_api=False, protected_doc=False)
    assert [
        entrance.pattern for entrance in entrances(replace(ENDPOINT, prefix=prefix), policy, world.services)
    ] == expected


@pytest.mark.parametrize(("pattern", "version"), [("/rpc", 1), ("/rpc/v1", 1), ("/rpc/v2", 2)])
async def test_version_of_an_entrance(world: World, pattern: str, version: int) -> None:
    """C-07, C-20: the path says the version, for a batch's items too."""
    await served(world)[pattern].answer(CALLER, inbound([{"method": "echo", "id": 1}]))
    assert [call.version for call in world.calls] == [version]


async def test_unknown_version(world: World) -> None:
    """C-20: a version that the group lacks is 404 for documents and -32601 for calls."""
    entrance = served(world)["/rpc/{ver}"]
    found = await entrance.answer(CALLER, inbound(b"", "GET", "/rpc/v3"))
    assert error_of(found) == (404, -32601, None)
    called = await entrance.answer(CALLER, inbound({"method": "echo", "id": 1}, path="/rpc/v3"))
    assert error_of(called) == (200, -32601, 1)


@pytest.mark.parametrize("pattern", ["/rpc", "/rpc/v2", "/rpc/{ver}"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_token_before_the_body(world: World, pattern: str, method: str) -> None:
    """C-19: a protected group asks on every path, before there is a body: 401 or 403, the id null."""
    admit = served(world, protected=True)[pattern].admit
    absent, wrong = (admit(inbound(b"", method, **fields).head) for fields in ({}, {"Ufo_RPC_Token": "nope"}))
    assert isinstance(absent, Reply)
    assert isinstance(wrong, Reply)
    assert error_of(absent) == (401, -32401, None)
    assert error_of(wrong) == (403, -32403, None)
    assert admit(inbound(b"", method, Authorization="Bearer s3cret").head) == CALLER


def test_too_large(world: World) -> None:
    """C-11: a body over the limit is 413, and the operator is told which setting holds it."""
    entrance = served(world)["/rpc"]
    assert entrance.max_body_bytes == 1000
    assert error_of(entrance.too_large(inbound(b"").head)) == (413, -32600, None)
    [(name, fields)] = world.events
    assert name == "guard.refused"
    assert "max_body_bytes" in fields["reason"]


# References


async def test_references(world: World) -> None:
    """A chain of references is answered in the batch's order, and each item has what its parent answered."""
    body = [
        {"method": "echo", "params": {"got": "@FROM:b(n)", "$rpc": {"timeout": 30}}, "id": "c"},
        {"method": "echo", "params": {"n": "@FROM:a(n)", "all": "@from:a()"}, "id": "b"},
        {"method": "echo", "params": {"n": 7}, "id": "a"},
    ]
    last, middle, first = read(await post(world, body))
    assert first["result"] == {"n": 7}
    assert middle["result"] == {"n": 7, "all": {"n": 7}}
    assert last["result"] == {"got": 7}
    assert [call.timeout for call in world.calls] == [10.0, 10.0, 30]


async def test_references_that_fail(world: World) -> None:
    """An item whose reference leads nowhere is an error of its own, told by the kernel; the others are answered."""
    body = [
        {"method": "echo", "params": {"n": 7}, "id": "a"},
        {"method": "nope", "id": "b"},
        {"method": "echo", "params": {"x": "@FROM:b(n)"}, "id": "c"},
        {"method": "echo", "params": {"x": "@FROM:c()"}, "id": "d"},
        {"method": "echo", "params": {"x": "@FROM:a(zz)"}, "id": "e"},
    ]
    answers = read(await post(world, body))
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32601, -32600, -32600, -32600]
    assert sorted(call.ray_id for call in world.calls if call.refused) == ["c", "d", "e"]
    for failed, words in zip(answers[2:], (['"x"', '"n"', '"b"'], ['"x"', '"c"'], ['"x"', '"zz"', '"a"']), strict=True):
        assert [word for word in words if word not in failed["error"]["message"]] == []
    assert world.story == ["run {'n': 7}"]


async def test_references_to_a_fault(world: World) -> None:
    """An item that was no request has an id all the same: who refers to it refers to an error."""
    body = [{"method": 7, "id": "a"}, {"method": "echo", "params": ["@FROM:a()"], "id": "b"}]
    first, second = read(await post(world, body))
    assert (first["error"]["code"], second["error"]["code"]) == (-32600, -32600)
    assert "an error" in second["error"]["message"]


async def test_references_of_a_notification(world: World) -> None:
    """A notification runs after the answers, with what they hold."""
    body = [{"method": "echo", "params": ["@FROM:a(n)"]}, {"method": "echo", "params": {"n": 7}, "id": "a"}]
    reply = await post(world, body)
    assert reply.after is not None
    await reply.after()
    assert "run [7]" in world.story


async def test_a_reference_outside_of_a_batch(world: World) -> None:
    """A single request's parameters reach the method as they are."""
    assert read(await post(world, {"method": "echo", "params": ["@FROM:a(n)"], "id": 1}))["result"] == ["@FROM:a(n)"]
