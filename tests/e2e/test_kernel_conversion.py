"""Conversion and validation over the wire: what `/rpc` takes, what MCP takes, and what each says of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, daemon
from tests.support.mcp import Stateless

PLUGIN = """
import contextlib
import dataclasses
import datetime as dt
import enum
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal

from annotated_types import Ge, MinLen
from pydantic import Field
from typing_extensions import TypedDict

import rpcgw as rpc


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str

    @classmethod
    def parse(cls, text):
        amount, currency = text.split(" ")
        return cls(Decimal(amount), currency)

    def __str__(self):
        return f"{self.amount} {self.currency}"


@dataclasses.dataclass
class User:
    id: int
    name: str


@dataclasses.dataclass
class Admin(User):
    password: str = "sesame"


@dataclasses.dataclass
class Line:
    sku: Annotated[str, rpc.NotBlank()]
    price: Annotated[Decimal, Ge(0)]
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Order:
    __pydantic_config__ = {"extra": "forbid"}

    buyer: User
    lines: Annotated[list[Line], MinLen(1)]
    total: Money
    number: Annotated[int, Field(alias="no")] = 0
    due: Annotated[dt.date, rpc.DateFormat("%d.%m.%Y")] | None = None
    extras: dict[str, Line] = dataclasses.field(default_factory=dict)


class Card(TypedDict):
    kind: Literal["card"]
    level: Level


class Cash(TypedDict):
    kind: Literal["cash"]


class Users:
    def __init__(self):
        self.known = {1: User(1, "Ada"), 2: User(2, "Alan")}


@contextlib.asynccontextmanager
async def lifespan():
    yield Users()


@rpc.resolver(User, by=int)
async def find_user(number: int, users: Users) -> User | None:
    return users.known.get(number)


@rpc.procedure("Shop", groups=["mcp"])
class Shop:
    def echo(self, colour: Colour, level: Level = Level.LOW) -> dict[str, str]:
        return {"colour": colour.name, "level": level.name}

    def when(
        self,
        at: dt.datetime,
        local: Annotated[dt.datetime, rpc.DateFormat("%d.%m.%Y %H:%M", zone="Europe/Kyiv")] | None = None,
    ) -> list[str]:
        return [at.isoformat(), local.isoformat() if local else ""]

    def same(self, id: uuid.UUID, raw: bytes, amount: Decimal, span: dt.timedelta) -> dict[str, Any]:
        return {"id": id, "raw": raw, "amount": amount, "span": span}

    def order(self, order: Order, paid: Annotated[Card | Cash, Field(discriminator="kind")] | None = None) -> str:
        level = paid["level"].name if paid and paid["kind"] == "card" else None
        return f"{order.number} {order.buyer.name} {order.total.amount} {order.due} {level} {order.lines[0].colour.name}"

    def pay(self, money: Money) -> list[Money]:
        return [money, money]

    def user(self, user: User, other: User | None = None) -> list[str | None]:
        return [user.name, other.name if other else None]

    def nullable(self, text: str | None = "default") -> str | None:
        return text

    def mail(
        self,
        to: Annotated[list[str], rpc.Unique(), rpc.Each(rpc.Email())],
        subject: Annotated[str, rpc.NotBlank()],
        port: Annotated[int, Ge(1)] = 25,
    ) -> str:
        return "sent"

    def leak(self) -> User:
        return Admin(1, "Ada")


plugin = rpc.Plugin(
    procedures=[Shop],
    lifespan=lifespan,
    converters=[rpc.Converter(Money, wire=Annotated[str, rpc.Regex("^[0-9.]+ [A-Z]{3}$")], load=Money.parse, dump=str), find_user],
)
"""

CONFIG = "environment: test\nufo_json_rpc:\n  security:\n    protected_api: false\n"
LINE = {"sku": "a", "price": "1.50"}
STORY = ((re.compile(r',"message":"[^"]*","code":-\d+,"file":.*?(?=\}\},"jsonrpc")'), ""),)
"""What the environment `test` tells beside: places and traces."""
ORDER = {"buyer": 1, "lines": [LINE], "total": "1.50 EUR"}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    """A shop whose plugin brings enums, dates, DTOs, a converter and a resolver."""
    with daemon(config=CONFIG, plugins={"shop.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def shop(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The same, overheard. What a refusal's story says of places and traces is left out."""
    with noting(record_property, running, words=STORY):
        yield running


def rpc(shop: Daemon, method: str, params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": f"Shop.{method}", "params": params}
    answer: dict[str, Any] = shop.post("/rpc", message).json()
    return answer


@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        pytest.param("echo", {"colour": "red", "level": 2}, {"colour": "RED", "level": "HIGH"}, id="enums by value"),
        pytest.param("echo", {"colour": "Blue", "level": "2"}, {"colour": "BLUE", "level": "HIGH"}, id="an enum by name, an int enum by a numeric text"),
        pytest.param("echo", ["RED"], {"colour": "RED", "level": "LOW"}, id="by position too"),
        pytest.param("when", {"at": "2026-11-30T12:00:00+02:00"}, ["2026-11-30T12:00:00+02:00", ""], id="a date and time"),
        pytest.param("when", {"at": 0, "local": "30.11.2026 12:00"}, ["1970-01-01T00:00:00+00:00", "2026-11-30T12:00:00+02:00"], id="a timestamp; a format with a zone"),
        pytest.param("same", {"id": "0189f7e2-3f6a-7c1e-9b1a-0123456789ab", "raw": "//4=", "amount": "1.10", "span": "PT90S"}, {"id": "0189f7e2-3f6a-7c1e-9b1a-0123456789ab", "raw": "//4=", "amount": "1.10", "span": "PT90S"}, id="UUID, bytes, Decimal and duration, there and back"),
        pytest.param("order", {"order": ORDER}, "0 Ada 1.50 None None RED", id="a DTO with defaults"),
        pytest.param("order", {"order": {**ORDER, "no": 7, "due": "30.11.2026", "extras": {"x": LINE}}, "paid": {"kind": "card", "level": 2}}, "7 Ada 1.50 2026-11-30 HIGH RED", id="a renamed key, a date, a map, a discriminated union"),
        pytest.param("order", {"order": {**ORDER, "lines": [{**LINE, "colour": "BLUE"}]}}, "0 Ada 1.50 None None BLUE", id="an enum by name, deep inside"),
        pytest.param("pay", {"money": "2.00 UAH"}, ["2.00 UAH", "2.00 UAH"], id="a plugin's converter, there and back"),
        pytest.param("user", {"user": 2, "other": 9}, ["Alan", None], id="objects by id; null for a nullable one that is not found"),
        pytest.param("nullable", {}, "default", id="absent is the default"),
        pytest.param("nullable", {"text": None}, None, id="null is null"),
        pytest.param("mail", {"to": ["a@b.co"], "subject": "Hi", "unknown": 1}, "sent", id="rules that are kept; unknown names are dropped"),
    ],
)  # fmt: skip
def test_what_rpc_takes(shop: Daemon, method: str, params: Any, result: Any) -> None:
    """A-RPC-61, A-RPC-62, A-RPC-63, A-RPC-64, A-RPC-65, A-RPC-66, A-RPC-68: jSON values become what the procedure's types say, and results go back the same way."""
    assert rpc(shop, method, params).get("result") == result


@pytest.mark.parametrize(
    ("method", "params", "message", "extra"),
    [
        pytest.param("echo", {"colour": "green", "level": "x"}, "Invalid parameters of Shop.echo", {"colour": ["must be 'red' or 'blue'"], "level": ["must be 1 or 2"]}, id="no member"),
        pytest.param("echo", {"colour": None}, "Invalid parameters of Shop.echo", {"colour": ["must be 'red' or 'blue'"]}, id="null for an enum"),
        pytest.param("when", {"at": "tomorrow"}, "Invalid data for Shop.when", {"at": ["must be a date and time such as 2026-11-30T12:00:00Z"]}, id="a relative word"),
        pytest.param("when", {"at": 0, "local": "2026-11-30"}, "Invalid data for Shop.when", {"local": ["must match ^((0[1-9]|[12]\\d|3[01])\\.(0[1-9]|1[0-2])\\.\\d{4} ([01]\\d|2[0-3]):[0-5]\\d)$"]}, id="another format"),
        pytest.param("when", {"at": 0, "local": "31.11.2026 12:00"}, "Invalid data for Shop.when", {"local": ["must be written as 30.11.2026 15:04"]}, id="not in the calendar"),
        pytest.param("same", {"id": "x", "raw": "?", "amount": "1", "span": "x"}, "Invalid data for Shop.same", {"id": ["must be a UUID"], "raw": ["must be base64"], "span": ["must be an ISO 8601 duration such as PT1H30M"]}, id="all at once"),
        pytest.param("order", {"order": {**ORDER, "lines": [LINE, {"sku": " ", "price": -1}]}}, "Invalid data for Shop.order", {"order.lines[1].sku": ["must not be blank"], "order.lines[1].price": ["must be at least 0"]}, id="rules on a DTO's fields, by item"),
        pytest.param("order", {"order": {**ORDER, "lines": [{"sku": 1}]}}, "Invalid parameters of Shop.order", {"order.lines[0].sku": ["must be a string"], "order.lines[0].price": ["is required"]}, id="types and missing keys, by item"),
        pytest.param("order", {"order": {**ORDER, "more": 1}}, "Invalid parameters of Shop.order", {"order.more": ["is not a known field"]}, id="a class that forbids other keys"),
        pytest.param("order", {"order": {**ORDER, "buyer": 9}}, "Invalid data for Shop.order", {"order.buyer": ["not found"]}, id="an id inside a DTO"),
        pytest.param("order", {"order": ORDER, "paid": {"kind": "loan"}}, "Invalid parameters of Shop.order", {"paid.kind": ["must be 'card' or 'cash'"]}, id="no branch of a union"),
        pytest.param("pay", {"money": "2.0.0 UAH"}, "Invalid data for Shop.pay", {"money": ["cannot be read"]}, id="what a converter cannot read"),
        pytest.param("user", {"user": 9}, "Invalid data for Shop.user", {"user": ["not found"]}, id="not found"),
        pytest.param("mail", {"to": ["a", "a@b.co"], "subject": " ", "port": 0}, "Invalid data for Shop.mail", {"to[0]": ["must be an e-mail address"], "subject": ["must not be blank"], "port": ["must be at least 1"]}, id="every rule of every parameter"),
        pytest.param("mail", {}, "Invalid parameters of Shop.mail", {"to": ["is required"], "subject": ["is required"]}, id="all that is missing; absent ones are not asserted"),
        pytest.param("mail", {"to": [], "subject": "Hi", "port": "5"}, "Invalid parameters of Shop.mail", {"port": ["must be an integer"]}, id="nothing else is coerced"),
    ],
)  # fmt: skip
def test_what_rpc_refuses(shop: Daemon, method: str, params: Any, message: str, extra: dict[str, list[str]]) -> None:
    """A-RPC-69, A-RPC-66, A-RPC-67, A-RPC-70, A-RPC-71, A-RPC-72, A-RPC-73, A-RPC-64, A-RPC-65: -32602 with the full method's name, and everything that is wrong by its path."""
    error = rpc(shop, method, params)["error"]
    assert (error["code"], error["message"]) == (-32602, message)
    assert {path: sorted(words) for path, words in error["data"]["extra"].items()} == extra


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        pytest.param("echo", {"colour": "RED"}, id="an enum by name"),
        pytest.param("echo", {"colour": "red", "level": "2"}, id="a numeric text"),
        pytest.param("when", {"at": 0}, id="a timestamp"),
    ],
)
def test_tools_take_the_advertised_forms_alone(shop: Daemon, method: str, arguments: dict[str, Any]) -> None:
    """A-RPC-61, A-RPC-62: what `/rpc` takes beside the schema is a wrong shape over MCP."""
    client = Stateless(shop)
    assert client.call(f"Shop.{method}", arguments).json()["error"]["code"] == -32602


def test_tools_show_the_wires_forms(shop: Daemon) -> None:
    """The schema of a converted class is that of its JSON form, that of an object by id the id's."""
    tools = Stateless(shop).tools()
    assert tools["Shop.pay"]["inputSchema"]["properties"]["money"] == {
        "type": "string",
        "pattern": "^[0-9.]+ [A-Z]{3}$",
    }
    assert tools["Shop.user"]["inputSchema"]["properties"]["user"] == {"type": "integer"}
    due = tools["Shop.order"]["inputSchema"]["$defs"]["Order"]["properties"]["due"]["anyOf"][0]
    assert due["examples"] == ["30.11.2026"]


def test_a_subclass_that_shows_more_than_was_promised(shop: Daemon) -> None:
    """Outside prod a result with fields that its type does not name is logged; it is answered all the same."""
    assert rpc(shop, "leak", {})["result"] == {"id": 1, "name": "Ada", "password": "sesame"}
    said = shop.wait_log("result.unexpected")
    assert said["method"] == "Shop.leak"
    assert "password" in str(said["misfits"])
