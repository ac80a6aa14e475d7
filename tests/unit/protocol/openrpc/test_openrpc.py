"""The OpenRPC document, held against the meta-schema and member by member."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from rpcgw.api.marks import Tool
from rpcgw.api.problems import Place
from rpcgw.kernel.method import ErrorDoc, Method, ParamDoc, ResultDoc
from rpcgw.kernel.signature import Signature
from rpcgw.protocol.openrpc import Document, Edition, Project, documents, path_of

META = Path(__file__).parent / "meta"
SCHEMA = json.loads((META / "openrpc.json").read_text())
TYPES = DRAFT7.create_resource(json.loads((META / "json-schema.json").read_text()))
VALIDATOR = Draft7Validator(
    SCHEMA,
    registry=Registry().with_resources(
        [("https://meta.json-schema.tools/", TYPES), ("https://meta.json-schema.tools", TYPES)]
    ),
)


class Catalog:
    def search(self) -> None: ...


def method(name: str, **changes: Any) -> Method:
    """A method as a compile makes it."""
    place = Place("catalog.py", 1)
    function = Catalog.search
    members: dict[str, Any] = {
        "name": name,
        "version": 1,
        "groups": frozenset({"general"}),
        "procedure": Catalog,
        "attribute": "search",
        "signature": Signature(name, function, (), None, "", "", (), (), False, False, place),
        "title": None,
        "description": "",
        "tool": Tool(),
        "cache": None,
        "lock": None,
        "invalidates": None,
        "inline": False,
        "is_async": False,
        "deprecated": False,
        "plugin": "catalog",
        "place": place,
        "input_schema": b"{}",
        "output_schema": None,
        "params": (),
        "result": ResultDoc("None", "", b'{"type":"null"}'),
        "errors": (),
    }
    return Method(**members | changes)


SEARCH = method(
    "Catalog.search",
    params=(
        ParamDoc("query", "Words to look for.", True, b'{"type":"string","minLength":1}'),
        ParamDoc("limit", "", False, b'{"type":"integer","default":10}'),
    ),
    result=ResultDoc(
        "list[Product]", "What was found.", b'{"type":"array","items":{"$ref":"#/components/schemas/Product"}}'
    ),
    errors=(ErrorDoc(4010, "Closed", "Where the shop is closed."),),
)
OLD = method("Catalog.old", deprecated=True)
PING = method("ping", result=ResultDoc("str", "", b'{"type":"string"}'))
PRODUCT = {"Product": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}
EDITIONS = {
    1: Edition({m.name: m for m in (OLD, SEARCH, PING)}, PRODUCT),
    2: Edition({SEARCH.name: SEARCH}, PRODUCT),
    3: Edition({}),
}


class Words:
    """Texts by language, as catalogues give them; counts how often they are asked."""

    def __init__(self) -> None:
        self.asked = 0

    def title(self, group: str, method: Method, locale: str) -> str:
        self.asked += 1
        return {"uk": "Пошук", "en": "Search"}[locale] if method is SEARCH else ""

    def description(self, group: str, method: Method, locale: str) -> str:
        if method is SEARCH:
            return {"uk": "Шукає товари.", "en": "Finds products."}[locale]
        return "Kept for old clients.\n\nUse search." if method is OLD else ""


PROJECT = Project("My Project", "What it is.", "https://api.example.com")


def made(project: Project = PROJECT, prefix: str = "/rpc", texts: Words | None = None) -> Document:
    return documents(project, prefix, "general", EDITIONS, texts or Words())


def read(body: bytes | None) -> dict[str, Any]:
    assert body is not None
    value: dict[str, Any] = json.loads(body)
    return value


@pytest.mark.parametrize("head_only", [False, True], ids=["whole", "head"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("project", [PROJECT, Project("P")], ids=["all said", "little said"])
def test_valid(project: Project, version: int, head_only: bool) -> None:
    """Every document is valid against OpenRPC's own schema."""
    VALIDATOR.validate(read(made(project)(version, "en", head_only)))


def test_the_meta_schema_refuses() -> None:
    """The schema that documents are held against does refuse a wrong one, in its types too."""
    document = read(made()(1, "en", False))
    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid({**document, "unknown": 1})
    document["methods"][1]["params"][0]["schema"]["type"] = "any"
    assert not VALIDATOR.is_valid(document)


def test_head() -> None:
    """`info` and `servers` name the project, this version, all versions and this version's own URL."""
    document = read(made()(2, "en", True))
    assert document == {
        "openrpc": "1.3.2",
        "info": {"title": "My Project", "description": "What it is.", "version": "v2", "x-versions": ["v1", "v2"]},
        "servers": [{"name": "rpcgw", "url": "https://api.example.com/rpc/v2", "x-method": "POST"}],
        "methods": [],
    }


def test_methods() -> None:
    """A method shows its texts, params with what is required and the defaults, result, errors."""
    old, search, ping = read(made()(1, "en", False))["methods"]
    assert search == {
        "name": "Catalog.search",
        "tags": [{"name": "Catalog", "description": "Catalog"}],
        "summary": "Search",
        "description": "Finds products.",
        "params": [
            {
                "name": "query",
                "description": "Words to look for.",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
            },
            {"name": "limit", "required": False, "schema": {"type": "integer", "default": 10}},
        ],
        "result": {
            "name": "list[Product]",
            "description": "What was found.",
            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Product"}},
        },
        "deprecated": False,
        "errors": [{"code": 4010, "message": "Closed"}],
    }
    assert (old["deprecated"], old["summary"]) == (True, "Kept for old clients.")
    assert "errors" not in ping
    assert "summary" not in ping


def test_components() -> None:
    """The types that methods refer to stand in the document."""
    assert read(made()(1, "en", False))["components"] == {"schemas": PRODUCT}


def test_languages() -> None:
    """T-03: texts are those of the language that is asked for."""
    document = made()
    texts = {locale: read(document(2, locale, False))["methods"][0]["summary"] for locale in ("uk", "en")}
    assert texts == {"uk": "Пошук", "en": "Search"}


@pytest.mark.parametrize("version", [0, 3, 4], ids=["no version", "a version without methods", "an unknown version"])
def test_nothing_there(version: int) -> None:
    """C-20: there is no document where the group has no method."""
    assert made()(version, "en", False) is None


def test_made_once() -> None:
    """A document is made once and kept."""
    texts = Words()
    document = made(texts=texts)
    first = document(1, "en", False)
    asked = texts.asked
    assert document(1, "en", False) is first
    assert texts.asked == asked > 0


@pytest.mark.parametrize(
    ("project", "prefix", "version", "url"),
    [
        pytest.param(PROJECT, "/rpc", 1, "https://api.example.com/rpc", id="the public URL and the prefix"),
        pytest.param(
            Project("P", public_url="https://x.example/gw/"), "/rpc", 2, "https://x.example/gw/rpc/v2", id="a path"
        ),
        pytest.param(Project("P"), "/rpc/internal", 1, "/rpc/internal", id="the path alone"),
        pytest.param(Project("P"), "", 1, "/", id="the root"),
        pytest.param(Project("P"), "", 2, "/v2", id="a version at the root"),
    ],
)
def test_server_url(project: Project, prefix: str, version: int, url: str) -> None:
    """The server's URL comes from the configuration alone."""
    assert read(made(project, prefix)(version, "en", True))["servers"][0]["url"] == url


def test_path_of() -> None:
    """C-07: no version in the path means the first."""
    assert (path_of("/rpc", 1), path_of("/rpc", 2)) == ("/rpc", "/rpc/v2")
