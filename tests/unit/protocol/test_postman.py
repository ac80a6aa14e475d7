"""The Postman collection, member by member."""

import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any

import pytest
from annotated_types import Ge, MinLen
from pydantic import Field

import rpcgw as rpc
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.method import Method
from rpcgw.kernel.table import compile_methods
from rpcgw.protocol.openrpc import Edition, Project
from rpcgw.protocol.postman import SCHEMA, Collection, collections


class Category(Enum):
    BOOKS = "books"
    TOYS = "toys"


@dataclass(frozen=True)
class Product:
    sku: Annotated[str, MinLen(2)]
    category: Category
    parts: "list[Product]"
    note: str = "none"


@rpc.procedure("Catalog")
class Catalog:
    def search(
        self,
        query: Annotated[str, Field(examples=["kettle"])],
        category: Category,
        since: date,
        least: Annotated[int, Ge(1)],
        limit: int = 10,
    ) -> None: ...

    def add(self, product: Product, anything: Any, maybe: bool | None) -> None: ...

    def none(self) -> None: ...


TABLE, _ = compile_methods([Registration(Catalog, "catalog")])
EDITIONS = {1: Edition(TABLE.documented("general", 1), TABLE.components("general", 1)), 2: Edition({})}


class Words:
    """Texts in one language."""

    def title(self, group: str, method: Method, locale: str) -> str:
        return method.name

    def description(self, group: str, method: Method, locale: str) -> str:
        return f"{locale}: {method.name}"

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        return ""

    def result(self, group: str, method: Method, locale: str) -> str:
        return ""


def made(project: Project | None = None, *, prefix: str = "/rpc", protected: bool = True) -> Collection:
    return collections(
        project or Project("Shop", "What it is.", "https://api.example.com", version="7.1"),
        prefix,
        "general",
        EDITIONS,
        Words(),
        header="Ufo-RPC-Token",
        protected=protected,
    )


def read(body: bytes | None) -> dict[str, Any]:
    assert body is not None
    value: dict[str, Any] = json.loads(body)
    return value


def requests(collection: Collection) -> dict[str, dict[str, Any]]:
    items = read(collection(1, "en"))["item"]
    return {item["name"]: item for folder in items for item in folder.get("item", [folder])}


def test_head() -> None:
    """A collection says what it is of, in which format, and has no time and no chance in it."""
    info = read(made()(1, "en"))["info"]
    assert info.pop("_postman_id") == read(made()(1, "en"))["info"]["_postman_id"]
    assert info == {"name": "RPC: Shop v1", "description": "What it is.", "schema": SCHEMA, "version": "7.1"}
    assert made()(1, "en") == made()(1, "en")


def test_folders() -> None:
    """Each procedure is a folder; methods of none stand after them."""
    items = read(made()(1, "en"))["item"]
    assert [(item["name"], [inner["name"] for inner in item.get("item", [])]) for item in items] == [
        ("Catalog", ["Catalog.add", "Catalog.none", "Catalog.search"]),
        ("ping", []),
    ]


def test_request() -> None:
    """A request goes to the version's own path with the token's header and a body that can be sent as it stands."""
    request = requests(made())["Catalog.search"]["request"]
    body = json.loads(request["body"].pop("raw"))
    assert isinstance(body.pop("id"), int)
    assert body == {
        "jsonrpc": "2.0",
        "method": "Catalog.search",
        "params": {
            "query": "kettle",
            "category": "books",
            "since": "2026-01-31",
            "least": 1,
            "limit": 10,
        },
    }
    assert request == {
        "description": "en: Catalog.search",
        "method": "POST",
        "header": [
            {"key": "Content-Type", "value": "application/json"},
            {"key": "Ufo-RPC-Token", "value": "{{apiToken}}"},
        ],
        "body": {"mode": "raw", "options": {"raw": {"language": "json"}}},
        "url": "{{base_url}}/rpc",
    }


def test_samples_of_types() -> None:
    """A sample of a class holds what its schema requires, however deep; of anything it is null."""
    params = json.loads(requests(made())["Catalog.add"]["request"]["body"]["raw"])["params"]
    assert params == {"product": {"sku": "xx", "category": "books", "parts": []}, "anything": None, "maybe": True}


def test_no_params() -> None:
    """A method without parameters is called without any."""
    assert "params" not in json.loads(requests(made())["Catalog.none"]["request"]["body"]["raw"])


def test_ids() -> None:
    """Requests have ids of their own, the same each time."""
    first, second = requests(made()), requests(made())
    assert {name: item["id"] for name, item in first.items()} == {name: item["id"] for name, item in second.items()}
    assert len({item["id"] for item in first.values()}) == len(first)


def test_variables() -> None:
    """The address and the token are variables, under Postman's key and under the original's."""
    document = read(made()(1, "en"))
    assert document["variable"] == document["variables"]
    assert {variable["key"]: variable["value"] for variable in document["variable"]} == {
        "base_url": "https://api.example.com",
        "apiToken": "",
    }


def test_open() -> None:
    """Where calls need no token, its header is there and switched off."""
    header = requests(made(protected=False))["ping"]["request"]["header"][1]
    assert header == {"key": "Ufo-RPC-Token", "value": "{{apiToken}}", "disabled": True}


def test_language() -> None:
    """Descriptions are in the language that is asked for."""
    document = read(made()(1, "uk"))
    assert document["item"][-1]["request"]["description"] == "uk: ping"


@pytest.mark.parametrize("version", [0, 2, 3], ids=["no version", "a version without methods", "an unknown version"])
def test_nothing_there(version: int) -> None:
    """C-20: there is no collection where the group has no method."""
    assert made()(version, "en") is None
