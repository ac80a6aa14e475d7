"""The OpenRPC document, held against the meta-schema and member by member."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import ANY

import pytest
from annotated_types import MinLen
from jsonschema import Draft7Validator
from pydantic import Field
from referencing import Registry
from referencing.jsonschema import DRAFT7

import rpcgw as rpc
from rpcgw.api.errors import DataNotFound
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import compile_methods
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


@dataclass(frozen=True)
class Product:
    id: int


@rpc.procedure("Catalog")
class Catalog:
    def search(self, query: Annotated[str, MinLen(1)], limit: int = 10) -> list[Product]:
        """Find.

        Args:
            query: Words to look for.
            limit: How many.

        Returns:
            What was found.

        Raises:
            DataNotFound: Where nothing was found.
        """
        return [Product(limit)] * len(query)

    def old(self) -> None:
        """Kept for old clients.

        Use search.

        .. deprecated:: 1
        """


@rpc.procedure("Catalog", version=2, removed=["old"])
class CatalogTwo:
    def more(self) -> Any: ...


TABLE, PROBLEMS = compile_methods([Registration(Catalog, "catalog"), Registration(CatalogTwo, "catalog")])
EDITIONS = {
    **{
        version: Edition(TABLE.methods("general", version) or {}, TABLE.components("general", version))
        for version in TABLE.versions("general")
    },
    3: Edition({}),
}


class Words:
    """Texts by language, as catalogues give them; counts how often they are asked."""

    def __init__(self) -> None:
        self.asked = 0

    def title(self, group: str, method: Method, locale: str) -> str:
        self.asked += 1
        return {"uk": "Пошук", "en": "Search"}[locale] if method.name == "Catalog.search" else ""

    def description(self, group: str, method: Method, locale: str) -> str:
        if method.name == "Catalog.search":
            return {"uk": "Шукає товари.", "en": "Finds products."}[locale]
        return "" if method.name == "ping" else method.description

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        return {"uk": "Скільки.", "en": ""}[locale] if name == "limit" else ""

    def result(self, group: str, method: Method, locale: str) -> str:
        return {"uk": "Знайдене.", "en": ""}[locale] if method.name == "Catalog.search" else ""


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
    [search] = [method for method in document["methods"] if method["name"] == "Catalog.search"]
    search["params"][0]["schema"]["type"] = "any"
    assert not VALIDATOR.is_valid(document)


def test_head() -> None:
    """`info` names the project, this version and all versions; `servers` this version's URL and the `x-ufo` block."""
    queue = {"scheme": "redis", "host": "mq"}
    project = replace(PROJECT, product="0.1.0", version="7.1", environment="test", transports={"rpc_async": queue})
    document = read(made(project)(2, "en", True))
    sync = {"scheme": "https", "host": "api.example.com", "port": 443, "path": "/rpc/v2", "method": "POST"}
    assert document == {
        "openrpc": "1.3.2",
        "info": {
            "title": "My Project",
            "description": "What it is.",
            "version": "v2",
            "x-versions": ["v1", "v2"],
            "x-project-version": "7.1",
        },
        "servers": [
            {
                "name": "rpcgw",
                "description": "What it is.",
                "url": "https://api.example.com/rpc/v2",
                "x-method": "POST",
                "x-ufo": {
                    "envelop": "JSON-RPC-2.0/UFO-RPC-0.1.0",
                    "environment": {"env": "test", "rpcgw": "0.1.0"},
                    "transport": {"sync": sync, "rpc_async": queue},
                    "documentation": {
                        "postman": "https://api.example.com/rpc/v2/postman",
                        "json-rpc": "https://www.jsonrpc.org/specification",
                    },
                },
            }
        ],
        "methods": [],
    }
    VALIDATOR.validate(document)


def methods(version: int, locale: str = "en") -> dict[str, Any]:
    return {described["name"]: described for described in read(made()(version, locale, False))["methods"]}


def test_method() -> None:
    """A method shows its texts, params with what is required and the defaults, result, errors."""
    assert methods(1)["Catalog.search"] == {
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
                "x-ufo-assertions": "[MinLen(min_length=1)]",
            },
            {
                "name": "limit",
                "description": "How many.",
                "required": False,
                "schema": {"type": "integer", "default": 10},
            },
        ],
        "result": {
            "name": ANY,
            "description": "What was found.",
            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Product"}},
        },
        "deprecated": False,
        "errors": [{"code": -32404, "message": DataNotFound.default_message}],
    }


def test_little_is_said_of_little() -> None:
    """What nobody wrote does not stand in the document."""
    assert methods(1)["ping"] == {
        "name": "ping",
        "tags": [{"name": "Ping", "description": "Ping"}],
        "params": [],
        "result": {"name": "str", "description": ANY, "schema": {"type": "string"}},
        "deprecated": False,
    }


def test_summary_is_the_first_line_where_there_is_no_title() -> None:
    """A document's summary is the title, else what the description begins with."""
    assert methods(1)["Catalog.old"]["summary"] == "Kept for old clients."


def test_deprecated() -> None:
    """A method that its docstring calls deprecated is so in the document."""
    assert methods(1)["Catalog.old"]["deprecated"] is True


def test_versions() -> None:
    """C-20: a version's document holds what it inherits and adds, without what it removes."""
    assert sorted(methods(1)) == ["Catalog.old", "Catalog.search", "ping"]
    assert sorted(methods(2)) == ["Catalog.more", "Catalog.search", "ping"]


def test_components() -> None:
    """The types that methods refer to stand in the document."""
    product = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    assert read(made()(1, "en", False))["components"] == {"schemas": {"Product": product}}


def test_languages() -> None:
    """T-03: texts are those of the language that is asked for, of parameters and the result too."""

    def said(locale: str) -> list[str]:
        method = methods(2, locale)["Catalog.search"]
        return [
            method["summary"],
            *(param["description"] for param in method["params"]),
            method["result"]["description"],
        ]

    assert said("uk") == ["Пошук", "Words to look for.", "Скільки.", "Знайдене."]
    assert said("en") == ["Search", "Words to look for.", "How many.", "What was found."]


def test_examples() -> None:
    """A method whose types give examples of all that is required has them paired."""

    @rpc.procedure("Shop")
    class Shop:
        def find(
            self,
            query: Annotated[str, Field(examples=["kettle", "tea"])],
            limit: Annotated[int, Field(examples=[3])] = 10,
            page: int = 1,
        ) -> None: ...
        def get(self, number: int, name: Annotated[str, Field(examples=["x"])] = "") -> None: ...

    table, _ = compile_methods([Registration(Shop, "shop")])
    edition = Edition(table.methods("general", 1) or {}, table.components("general", 1))
    document = read(documents(Project("P"), "/rpc", "general", {1: edition}, Words())(1, "uk", False))
    VALIDATOR.validate(document)
    found = {method["name"]: method.get("examples") for method in document["methods"]}
    assert found["Shop.get"] is None
    assert found["Shop.find"] == [
        {"name": "Shop.find 1", "params": [{"name": "query", "value": "kettle"}, {"name": "limit", "value": 3}]},
        {"name": "Shop.find 2", "params": [{"name": "query", "value": "tea"}, {"name": "limit", "value": 3}]},
    ]


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
        pytest.param(Project("P"), "/rpc/internal", 1, "http://localhost/rpc/internal", id="an unknown address"),
        pytest.param(Project("P"), "", 1, "http://localhost/", id="the root"),
        pytest.param(Project("P"), "", 2, "http://localhost/v2", id="a version at the root"),
    ],
)
def test_server_url(project: Project, prefix: str, version: int, url: str) -> None:
    """The server's URL comes from the configuration alone."""
    assert read(made(project, prefix)(version, "en", True))["servers"][0]["url"] == url


def test_path_of() -> None:
    """C-07: no version in the path means the first."""
    assert (path_of("/rpc", 1), path_of("/rpc", 2)) == ("/rpc", "/rpc/v2")
