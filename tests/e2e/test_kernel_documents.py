"""Documents, languages, errors and the HTTP surface of `/rpc`, as clients meet them.

A docstring that begins with an id (`A-RPC-86: ...`) holds a line of docs/acceptance/kernel.md.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from tests.support.acceptance import Note, noting
from tests.support.clients import generated
from tests.support.daemon import ROOT, Daemon, cli, daemon, folder
from tests.support.http import Answer
from tests.support.mcp import Stateless

SECRET = "hunter2-hunter2"

PLUGIN = '''
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

from annotated_types import Ge, Le, MinLen
from pydantic import Field, SecretStr

import rpcgw as rpc


class Status(Enum):
    ACTIVE = "active"
    OFF = "off"


@dataclass
class Node:
    name: str
    status: Status = Status.ACTIVE


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


class SoldOut(rpc.LogicError):
    """Nothing left."""

    code = -32410
    default_message = "Sold out"


@rpc.procedure("Shop", groups=["general", "mcp"])
class Shop:
    def find(
        self, query: Annotated[str, MinLen(2), Field(examples=["kettle"])], limit: Annotated[int, Ge(1), Le(9)] = 3
    ) -> list[Node]:
        """Find products.

        More about it.

        Args:
            query: Words to look for.
            limit: How many.

        Returns:
            What was found.

        Raises:
            rpc.DataNotFound: Nothing was found.
            SoldOut: Nothing is left.
        """
        if query == "none":
            raise rpc.DataNotFound("There is no such product", extra={"query": query})
        if query == "sold":
            raise SoldOut
        return [Node(query)] * limit

    def types(
        self, node: Node, number: UUID, day: date, at: datetime, price: Decimal, data: bytes, anything: Any,
        maybe: int | None, several: int | str, texts: dict[str, int], status: Status = Status.OFF,
    ) -> dict[str, Status]:
        """Take all kinds of values."""
        return {"status": node.status}

    def login(self, name: str, password: Annotated[SecretStr, MinLen(20)]) -> SecretStr:
        """Take a secret."""
        return password

    def code(self, code: int) -> None:
        """Fail with a code."""
        if code == 0:
            raise RuntimeError("internal words")
        raise rpc.ApplicationError("Limit reached", code=code, extra={"limit": 3, "bad": {1, 2}})

    def chain(self) -> None:
        """Fail because of something."""
        try:
            raise ValueError("the first")
        except ValueError as error:
            raise rpc.RuntimeFault("the second") from error

    def deprecated(self) -> int:
        """Old.

        .. deprecated:: 1
        """
        return 1


@rpc.procedure("Shop", version=2, removed=["deprecated"], groups=["general", "mcp"])
class Shop2:
    def more(self) -> int:
        """More."""
        return 2


@rpc.procedure("Deep", groups=["deep"], with_default=False)
class Deep:
    def grow(self, tree: Tree) -> Tree:
        """Take what contains itself."""
        return tree


plugin = rpc.Plugin(procedures=[Shop, Shop2, Deep])
'''

UKRAINIAN = """
ping: {title: Пінг, description: Каже PONG.}
Shop.find:
  title: Знайти
  description: Шукає товари.
  result: Що знайдено.
  params: {query: Слова для пошуку.}
rpcgw:
  messages: {string_type: потрібен рядок}
"""
CONFIG = """
server: {public_url: "https://api.example.com"}
ufo_json_rpc:
  security: {protected_api: false}
  docs: {project_name: Shop, project_description: A shop., project_version: "7.1", async_dsn_info: true}
  async:
    - {type: redis, config: {name: rpc_async, dsn: "redis://me:hunter2-hunter2@127.0.0.1:1/0?token=hunter2-hunter2"}}
defaults: {max_body_bytes: 2000, max_batch: 3}
"""
ROUTES = """
rpc: {resource: rpc, prefix: /rpc}
mcp: {resource: mcp, prefix: /mcp, defaults: {api_group: mcp}}
deep: {resource: rpc, prefix: /deep, defaults: {api_group: deep}}
empty: {resource: rpc, prefix: /empty, defaults: {api_group: nobody}}
"""
META = ROOT / "tests" / "unit" / "protocol" / "openrpc" / "meta"


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    files = {"translations/rpc.uk.yaml": UKRAINIAN}
    with daemon(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}, files=files) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def call(served: Daemon, method: str, params: Any = None, language: str = "en", path: str = "/rpc") -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer: dict[str, Any] = served.post(path, body, {"Accept-Language": language}).json()
    return answer


def document(served: Daemon, path: str = "/rpc", language: str = "en") -> dict[str, Any]:
    answer = served.get(path, {"Accept-Language": language})
    assert answer.status == 200, answer.text
    read: dict[str, Any] = answer.json()
    return read


def methods(served: Daemon, path: str = "/rpc", language: str = "en") -> dict[str, dict[str, Any]]:
    return {method["name"]: method for method in document(served, path, language)["methods"]}


# -- documents


def test_head(served: Daemon) -> None:
    """A-RPC-04, A-RPC-86: the head of the OpenRPC document, with `x-versions`, `x-method` and the `x-ufo` block."""
    head = document(served, "/rpc/v2?info")
    assert (head["openrpc"], head["methods"], "components" in head) == ("1.3.2", [], False)
    assert head["info"] == {
        "title": "Shop",
        "description": "A shop.",
        "version": "v2",
        "x-versions": ["v1", "v2"],
        "x-project-version": "7.1",
    }
    [server] = head["servers"]
    assert (server["url"], server["x-method"]) == ("https://api.example.com/rpc/v2", "POST")
    ufo = server["x-ufo"]
    assert ufo["envelop"].startswith("JSON-RPC-2.0/UFO-RPC-")
    assert ufo["environment"]["env"] == "prod"
    assert ufo["transport"]["sync"] == {
        "scheme": "https",
        "host": "api.example.com",
        "port": 443,
        "path": "/rpc/v2",
        "method": "POST",
    }
    assert ufo["documentation"]["postman"] == "https://api.example.com/rpc/v2/postman"


def test_async_transports(served: Daemon) -> None:
    """A-RPC-87: queues are told of with their secrets masked."""
    answer = served.get("/rpc?info")
    assert SECRET not in answer.text
    assert answer.json()["servers"][0]["x-ufo"]["transport"]["rpc_async"] == {
        "scheme": "redis",
        "user": "{user}",
        "pass": "{pass}",
        "host": "127.0.0.1",
        "port": 1,
        "path": "/0",
        "query": {"token": "{token}"},
    }


def test_method(served: Daemon) -> None:
    """A-RPC-88, A-RPC-89: params with default, required and `x-ufo-assertions`; result; errors of `Raises:`; tags; examples."""
    assert methods(served)["Shop.find"] == {
        "name": "Shop.find",
        "tags": [{"name": "Shop", "description": "Shop"}],
        "summary": "Shop.find",
        "description": "Find products.\n\nMore about it.",
        "params": [
            {
                "name": "query",
                "description": "Words to look for.",
                "required": True,
                "schema": {"type": "string", "minLength": 2, "examples": ["kettle"]},
                "x-ufo-assertions": "[MinLen(min_length=2)]",
            },
            {
                "name": "limit",
                "description": "How many.",
                "required": False,
                "schema": {"type": "integer", "default": 3, "minimum": 1, "maximum": 9},
                "x-ufo-assertions": "[Ge(ge=1), Le(le=9)]",
            },
        ],
        "result": {
            "name": "list[Node]",
            "description": "What was found.",
            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
        "deprecated": False,
        "errors": [
            {"code": -32404, "message": 'Api method returned error "Data not found"'},
            {"code": -32410, "message": "Sold out"},
        ],
        "examples": [{"name": "Shop.find 1", "params": [{"name": "query", "value": "kettle"}]}],
    }
    assert methods(served)["Shop.deprecated"]["deprecated"] is True


def test_types(served: Daemon) -> None:
    """A-RPC-90, A-RPC-92: the table of types; enums are components that name their cases; what contains itself ends."""
    whole = document(served)
    schemas = {
        param["name"]: param["schema"]
        for method in whole["methods"]
        if method["name"] == "Shop.types"
        for param in method["params"]
    }
    formats = {name: schemas[name].get("format") for name in ("number", "day", "at")}
    assert formats == {"number": "uuid", "day": "date", "at": "date-time"}
    assert schemas["anything"] == {}
    assert [option["type"] for option in schemas["maybe"]["anyOf"]] == ["integer", "null"]
    assert [option["type"] for option in schemas["several"]["anyOf"]] == ["integer", "string"]
    assert schemas["texts"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    components = whole["components"]["schemas"]
    assert components["Status"] == {
        "type": "string",
        "enum": ["active", "off"],
        "x-ufo-enum": {"name": "Status", "values": {"ACTIVE": "active", "OFF": "off"}},
    }
    assert all("type" in schema for schema in components.values())
    deep = document(served, "/deep")["components"]["schemas"]
    assert deep["Tree"]["properties"]["children"]["items"] == {"$ref": "#/components/schemas/Tree"}


@pytest.mark.parametrize("path", ["/rpc", "/rpc/v1", "/rpc/v2", "/rpc?info", "/deep"])
def test_valid(served: Daemon, path: str) -> None:
    """A-RPC-03, A-RPC-86: each document is valid against OpenRPC's meta-schema."""
    types = DRAFT7.create_resource(json.loads((META / "json-schema.json").read_text()))
    names = ("https://meta.json-schema.tools/", "https://meta.json-schema.tools")
    registry: Registry[Any] = Registry().with_resources([(name, types) for name in names])
    Draft7Validator(json.loads((META / "openrpc.json").read_text()), registry=registry).validate(document(served, path))


def test_kept(served: Daemon) -> None:
    """A document has a tag; who has it already gets 304; who takes gzip gets gzip."""
    plain = served.get("/rpc")
    tag = plain.header("ETag") or ""
    assert (plain.header("Cache-Control"), "Accept-Language" in (plain.header("Vary") or "")) == ("no-cache", True)
    again = served.get("/rpc", {"If-None-Match": tag})
    assert (again.status, again.body, again.header("ETag")) == (304, b"", tag)
    packed = served.get("/rpc", {"Accept-Encoding": "gzip"})
    assert (packed.header("Content-Encoding"), gzip.decompress(packed.body)) == ("gzip", plain.body)


def test_generated_client(served: Daemon) -> None:
    """A client that @open-rpc/generator makes of the document calls the daemon.

    The generator (1.22) does not end on types that contain themselves, as those of `/deep`.
    """
    calls: list[tuple[str, list[Any]]] = [
        ("ping", []),
        ("Shop.find", ["tea", 2]),
        ("Shop.find", ["none"]),
        ("Shop.find", ["x"]),
    ]
    pong, found, none, refused = generated(document(served), f"{served.url}/rpc", calls)
    assert pong == {"result": "PONG"}
    assert found["result"] == [{"name": "tea", "status": "active"}] * 2
    assert none == {"code": -32404, "message": "There is no such product"}
    assert "refused" in refused


def test_generated_client_of_the_example(example_daemon: Daemon) -> None:
    """So does a client that is made of the example plugin's document."""
    whole = document(example_daemon, "/rpc/internal")
    [found] = generated(whole, f"{example_daemon.url}/rpc/internal", [("Catalog.discounted", [1000, 25])])
    assert found == {"result": 750}


def test_postman(served: Daemon) -> None:
    """A-RPC-05, A-RPC-93: Postman 2.1: a folder for each procedure, headers, variables, and bodies that are sent as they stand."""
    collection = served.get("/rpc/v2/postman").json()
    assert collection["info"]["schema"] == "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
    assert collection["variable"] == collection["variables"]
    [folder_, ping] = collection["item"]
    assert (folder_["name"], ping["name"]) == ("Shop", "ping")
    for item in (*folder_["item"], ping):
        request = item["request"]
        path = request["url"].replace("{{base_url}}", "")
        headers = {each["key"]: each["value"] for each in request["header"] if not each.get("disabled")}
        answer = served.request(request["method"], path, request["body"]["raw"], headers).json()
        assert answer.get("error", {}).get("code") != -32601, item["name"]
        assert answer.get("result") == "PONG" or item["name"] != "ping"


def test_postman_of_nothing(served: Daemon) -> None:
    """A-RPC-07: documents of a version or group that is not there are 404."""
    for path in ("/rpc/v9", "/rpc/v9/postman", "/empty", "/empty/postman"):
        assert served.get(path).status == 404, path


def test_protected_documents(record_property: Note) -> None:
    """A-RPC-39, A-RPC-94: `protected_doc` holds for every document, and only for documents."""
    config = """
    ufo_json_rpc:
      security: {protected_api: false, protected_doc: true, clients_tokens: [tok]}
    """
    with (
        daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running,
        noting(record_property, running),
    ):
        for path in ("/rpc", "/rpc/v2", "/rpc?info", "/rpc/postman", "/rpc/v2/postman"):
            statuses = [
                running.get(path, headers).status
                for headers in ({}, {"Ufo-RPC-Token": "no"}, {"Ufo-RPC-Token": "tok"}, {"Authorization": "Bearer tok"})
            ]
            assert statuses == [401, 403, 200, 200], path
        kept = running.get("/rpc/postman", {"Ufo-RPC-Token": "tok"}).header("Cache-Control")
        assert kept == "private, no-cache"
        assert call(running, "ping")["result"] == "PONG"


def test_routes_are_listed() -> None:
    """`rpcgw routes` lists the documents by the original's names."""
    with folder(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}) as place:
        listed = cli("routes", cwd=place).stdout
    assert "general_ufo_rpc_api_postman_ver" in listed
    assert "/rpc/{ver}/postman" in listed


# -- languages


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        pytest.param("uk", "uk", id="a language that there is"),
        pytest.param("uk-UA, en;q=0.5", "uk", id="a region of it"),
        pytest.param("fr, uk;q=0.1", "uk", id="the second choice"),
        pytest.param("fr", "en", id="none that there is"),
        pytest.param("", "en", id="no wish"),
    ],
)
@pytest.mark.parametrize("path", ["/rpc", "/rpc/postman"])
def test_negotiated(served: Daemon, path: str, accepted: str, language: str) -> None:
    """A-RPC-95: `Accept-Language` is negotiated; the answer says its language and on what it depends."""
    answer = served.get(path, {"Accept-Language": accepted} if accepted else {})
    assert answer.header("Content-Language") == language
    assert "Accept-Language" in (answer.header("Vary") or "")
    assert ("Шукає товари." in answer.text) is (language == "uk")


def test_parameters_in_a_language(served: Daemon) -> None:
    """A-RPC-96: parameters and results are described in the language, each by itself, in OpenRPC and MCP alike."""
    described = methods(served, language="uk")["Shop.find"]
    assert [param["description"] for param in described["params"]] == ["Слова для пошуку.", "How many."]
    assert (described["summary"], described["result"]["description"]) == ("Знайти", "Що знайдено.")
    tool = Stateless(served).tools({"Accept-Language": "uk"})["Shop.find"]
    properties = tool["inputSchema"]["properties"]
    assert [properties[name]["description"] for name in ("query", "limit")] == ["Слова для пошуку.", "How many."]
    assert tool["outputSchema"]["properties"]["result"]["description"] == "Що знайдено."
    english = Stateless(served).tools({"Accept-Language": "en"})["Shop.find"]
    assert english["inputSchema"]["properties"]["query"]["description"] == "Words to look for."


def test_fallback(served: Daemon) -> None:
    """A-RPC-96: a method without any title has its name."""
    assert methods(served)["Shop.find"]["summary"] == "Shop.find"


@pytest.mark.parametrize(
    ("params", "english", "ukrainian"),
    [
        pytest.param(
            {"query": "x"}, "must have at least 2 character(s)", "має містити символів щонайменше: 2", id="rule"
        ),
        pytest.param({}, "is required", "обов'язковий", id="missing"),
        pytest.param({"query": 1}, "must be a string", "потрібен рядок", id="replaced by the operator"),
    ],
)
def test_validation_in_a_language(served: Daemon, params: Mapping[str, Any], english: str, ukrainian: str) -> None:
    """What is said of parameters is said in the language of the call, the operator's words first."""
    for language, words in (("en", english), ("uk", ukrainian), ("uk-UA", ukrainian)):
        error = call(served, "Shop.find", params, language)["error"]
        assert error["data"]["extra"] == {"query": [words]}
    assert "Shop.find" in call(served, "Shop.find", params, "uk")["error"]["message"]


def test_tools_in_a_language(served: Daemon) -> None:
    """So it is through MCP, in an error of the protocol and in a failed result."""
    tools = Stateless(served)
    headers = {"Accept-Language": "uk"}
    assert "потрібен рядок" in tools.call("Shop.find", {"query": 1}, headers).text
    assert "має містити символів щонайменше: 2" in tools.call("Shop.find", {"query": "x"}, headers).text


def test_errors_in_a_language(served: Daemon) -> None:
    """Standard errors are said in the language too; an author's words stay as they are."""
    assert "не має методу" in call(served, "No.such", language="uk")["error"]["message"]
    assert call(served, "Shop.code", [0], "uk")["error"]["message"] == "Внутрішня помилка JSON-RPC"
    assert call(served, "Shop.find", ["none"], "uk")["error"]["message"] == "There is no such product"
    broken = served.request("POST", "/rpc", b"{", {"Content-Type": "application/json", "Accept-Language": "uk"})
    assert broken.json()["error"]["message"] == "Сервер отримав хибний JSON."


def test_check_of_catalogues() -> None:
    """`rpcgw check` tells keys that match nothing and texts that are missing, with their places."""
    texts = "Shop.fnd: {title: x}\nShop.find: {title: x, description: y}\nrpcgw: {messages: {mising: x}}\n"
    files = {"translations/rpc.uk.yaml": texts}
    with folder(config=CONFIG, routes=ROUTES, plugins={"shop.py": PLUGIN}, files=files) as place:
        done = cli("check", cwd=place)
    said = done.stdout + done.stderr
    assert 'rpc.uk.yaml:1:1: warning[unknown-method] "Shop.fnd" matches no method' in said
    assert 'warning[unknown-message] the product says nothing by the key "mising"' in said
    assert 'warning[missing-text] "Shop.chain" has no description in uk' in said
    assert "Shop.find" not in said.replace("Shop.fnd", "").partition("missing-text")[0]


# -- errors


@pytest.mark.parametrize(
    ("method", "params", "code", "name"),
    [
        pytest.param("No.such", None, -32601, "MethodNotFound", id="no such method"),
        pytest.param("Shop.find", {}, -32602, "InvalidParams", id="a parameter that is missing"),
        pytest.param("Shop.find", {"query": "x"}, -32602, "AssertionFailed", id="a rule that is broken"),
        pytest.param("Shop.find", {"query": "none"}, -32404, "DataNotFound", id="data that are not there"),
        pytest.param("Shop.find", {"query": "sold"}, -32410, "SoldOut", id="an author's class"),
        pytest.param("Shop.code", {"code": 4010}, 4010, "ApplicationError", id="an application's code"),
        pytest.param("Shop.code", {"code": 0}, -32603, "InternalError", id="what nobody foresaw"),
        pytest.param("Shop.chain", None, -32500, "RuntimeFault", id="a failure at run time"),
    ],
)
def test_codes(served: Daemon, method: str, params: Any, code: int, name: str) -> None:
    """A-RPC-74: codes are those of the table, applications' own are kept; `data` names a stable class."""
    error = call(served, method, params)["error"]
    assert (error["code"], error["data"]["exception"]) == (code, name)
    assert set(error["data"]) <= {"exception", "extra"}


def test_extra(served: Daemon) -> None:
    """A-RPC-77: the bag `extra` goes out, without what JSON cannot carry; internal words do not."""
    assert call(served, "Shop.code", [4010])["error"]["data"]["extra"] == {"limit": 3}
    assert "internal words" not in json.dumps(call(served, "Shop.code", [0]))


def test_everything_in_dev() -> None:
    """A-RPC-76: `dev` shows the whole story, previous errors included; `errors.names: ufo` calls them as the original."""
    config = f"environment: dev\nerrors: {{names: ufo}}\n{CONFIG}"
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        data = call(running, "Shop.chain")["error"]["data"]
        assert data["exception"] == r"Ufo\RpcError\RpcRuntimeException"
        assert {"message", "code", "file", "line", "trace", "trace_string", "previous"} < set(data)
        assert (data["previous"]["exception"], data["previous"]["message"]) == ("ValueError", "the first")
        assert data["previous"]["previous"] is None
        named = {
            call(running, method, params)["error"]["data"]["exception"]
            for method, params in (("No.such", None), ("Shop.find", {}), ("Shop.code", [4010]))
        }
        assert named == {
            r"Ufo\RpcError\RpcMethodNotFoundExceptionRpc",
            r"Ufo\RpcError\RpcBadParamException",
            r"Ufo\RpcError\CustomApplicationException",
        }
        empty = running.post("/rpc", []).json()
        assert empty["error"]["data"]["exception"] == r"Ufo\RpcError\RpcBadRequestException"


@pytest.mark.parametrize(
    ("method", "params", "level", "outcome"),
    [
        pytest.param("ping", None, "info", "success", id="a success"),
        pytest.param("Shop.find", {}, "info", "refused", id="the caller's fault"),
        pytest.param("Shop.find", {"query": "none"}, "info", "refused", id="data that are not there"),
        pytest.param("Shop.code", {"code": 4010}, "info", "error", id="an application's error"),
        pytest.param("Shop.code", {"code": 0}, "error", "error", id="the server's fault"),
    ],
)
def test_levels(served: Daemon, method: str, params: Any, level: str, outcome: str) -> None:
    """A-RPC-78: the level of a call's line goes by the category of its error."""
    before = len(served.calls())
    call(served, method, params)
    (line,) = served.calls()[before:]
    assert (line["method"], line["level"], line["outcome"]) == (method, level, outcome)


def test_secrets(served: Daemon) -> None:
    """A-RPC-100: what a `Secret` type holds stands in no error, no result and no log line; its schema says what it is."""
    params = {param["name"]: param["schema"] for param in methods(served)["Shop.login"]["params"]}
    assert params["password"] == {"type": "string", "writeOnly": True, "format": "password", "minLength": 20}
    texts = [
        json.dumps(call(served, "Shop.login", {"name": "me", "password": value}))
        for value in (SECRET, [SECRET], {"a": SECRET}, SECRET * 2)
    ]
    texts.append(Stateless(served).call("Shop.login", {"name": "me", "password": SECRET}).text)
    served.wait_log("call")
    assert "must have at least 20" in texts[0]
    assert SECRET not in "".join(texts) + served.stderr()


# -- HTTP


def raw(served: Daemon, body: Any, path: str = "/rpc") -> Answer:
    return served.post(path, body if isinstance(body, bytes) else json.dumps(body).encode())


def test_endpoints(served: Daemon) -> None:
    """A-RPC-01, A-RPC-07: the prefix runs version 1, `<prefix>/v2` version 2; an unknown version has no methods."""
    assert call(served, "Shop.deprecated")["result"] == 1
    assert call(served, "Shop.deprecated", path="/rpc/v2")["error"]["code"] == -32601
    assert call(served, "Shop.more", path="/rpc/v2")["result"] == 2
    assert call(served, "ping", path="/rpc/v9")["error"]["code"] == -32601


def test_methods_of_http(served: Daemon) -> None:
    """A-RPC-06: OPTIONS is 204 with `Allow`; what is not served is 405."""
    options = served.request("OPTIONS", "/rpc")
    assert (options.status, options.header("Allow")) == (204, "GET, HEAD, POST, OPTIONS")
    assert served.request("PUT", "/rpc", b"{}").status == 405
    assert served.request("POST", "/rpc/postman", b"{}").status == 405


def test_body_limit(served: Daemon) -> None:
    """A-RPC-08: a body over the limit is 413."""
    assert raw(served, b" " * 3000).status == 413


@pytest.mark.parametrize(
    ("body", "status", "code", "identifier"),
    [
        pytest.param(b"{", 400, -32700, None, id="no JSON"),
        pytest.param([], 200, -32600, None, id="an empty batch"),
        pytest.param({"id": 1, "method": "ping", "jsonrpc": "1.0"}, 200, -32600, 1, id="another version"),
        pytest.param({"id": 1, "method": ""}, 200, -32600, 1, id="no method"),
        pytest.param({"id": 1.5, "method": "ping"}, 200, -32600, None, id="a float for an id"),
        pytest.param({"id": True, "method": "ping"}, 200, -32600, None, id="a bool for an id"),
        pytest.param({"id": 1, "method": "ping", "params": 3}, 200, -32600, 1, id="params that are none"),
        pytest.param([{"id": n, "method": "ping"} for n in range(4)], 200, -32301, None, id="too long a batch"),
    ],
)
def test_envelopes(served: Daemon, body: Any, status: int, code: int, identifier: int | None) -> None:
    """A-RPC-11, A-RPC-12, A-RPC-13, A-RPC-14, A-RPC-19, A-RPC-20: what is no request is told by its code, with the id where there is one."""
    answer = raw(served, body)
    error = answer.json()
    assert (answer.status, error["error"]["code"], error["id"]) == (status, code, identifier)
    assert answer.header("Content-Type") == "application/json"


@pytest.mark.parametrize("identifier", [0, 7, "a", "", -1], ids=repr)
@pytest.mark.parametrize("params", ["absent", None, {}, []], ids=repr)
def test_ids_and_params(served: Daemon, identifier: object, params: object) -> None:
    """A-RPC-15, A-RPC-13, A-RPC-14: the id comes back as it was; absent, null and empty params all mean none; `jsonrpc` may be absent."""
    body = {"id": identifier, "method": "ping", **({} if params == "absent" else {"params": params})}
    answer = raw(served, body)
    assert answer.body == f'{{"id":{json.dumps(identifier)},"result":"PONG","jsonrpc":"2.0"}}'.encode()


def test_positions(served: Daemon) -> None:
    """A-RPC-16, A-RPC-17: positions are bound to names; too few or too many are -32602; unknown names are dropped."""
    assert len(call(served, "Shop.find", ["tea", 2])["result"]) == 2
    assert call(served, "Shop.find", [])["error"]["code"] == -32602
    assert call(served, "Shop.find", ["tea", 2, 3])["error"]["code"] == -32602
    assert len(call(served, "Shop.find", {"query": "tea", "more": 1})["result"]) == 3


def test_notifications(served: Daemon) -> None:
    """A-RPC-18, A-RPC-24: a notification, and a batch of nothing else, is 204 without a body; its errors are logged alone."""
    for body in ({"method": "Shop.code", "params": [4010]}, [{"method": "ping"}, {"method": "Shop.code"}]):
        answer = raw(served, body)
        assert (answer.status, answer.body) == (204, b"")


def test_batch(served: Daemon) -> None:
    """A-RPC-20, A-RPC-21, A-RPC-23: a batch is answered in order, in its URL's version; a malformed item is an error of its own."""
    items = [{"id": 1, "method": "Shop.more"}, {"id": 2, "method": 3}, {"id": "c", "method": "ping"}]
    answers = raw(served, items, "/rpc/v2").json()
    assert [answer["id"] for answer in answers] == [1, 2, "c"]
    assert [answer.get("result") for answer in answers] == [2, None, "PONG"]
    assert answers[1]["error"]["code"] == -32600


def test_tokens() -> None:
    """A missing token is 401, a wrong one 403, both before the body is read, with the id null."""
    config = "ufo_json_rpc: {security: {protected_api: true, clients_tokens: [tok]}}"
    with daemon(config=config, routes=ROUTES, plugins={"shop.py": PLUGIN}) as running:
        for headers, status in (({}, 401), ({"Ufo-RPC-Token": "no"}, 403)):
            answer = running.post("/rpc", b"{", headers)
            assert (answer.status, answer.json()["id"]) == (status, None)
        assert running.post("/rpc", {"id": 1, "method": "ping"}, {"Ufo-RPC-Token": "tok"}).status == 200
        assert running.get("/rpc").status == 200


def test_nothing_of_this_is_in_a_file(served: Daemon) -> None:
    """Nor does a secret stand in any file of the daemon's but its configuration."""
    written = [path for path in Path(served.folder, "var").rglob("*") if path.is_file()]
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]
