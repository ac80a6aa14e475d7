"""How strict conversion is, class by class and property by property, as an author says it with types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.acceptance import Note, noting
from tests.support.daemon import Daemon, daemon
from tests.support.refusal import refusal

PLUGIN = """
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

import rpcgw as rpc


@dataclass
class Part:
    number: int


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: int


@dataclass
class Parcel:
    strict: Part | None = None
    closed: Closed | None = None
    loose: Part | dict[str, Any] | None = None
    anything: Any = None


@rpc.procedure("Post")
class Post:
    async def send(self, parcel: Parcel) -> dict[str, object]:
        return {
            "strict": type(parcel.strict).__name__,
            "closed": type(parcel.closed).__name__,
            "loose": type(parcel.loose).__name__,
            "anything": parcel.anything,
        }


plugin = rpc.Plugin(procedures=[Post])
"""
NOTHING = {"strict": "NoneType", "closed": "NoneType", "loose": "NoneType", "anything": None}


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    with daemon(plugins={"post.py": PLUGIN}) as made:
        yield made


@pytest.fixture
def served(running: Daemon, record_property: Note) -> Iterator[Daemon]:
    """The daemon, overheard."""
    with noting(record_property, running):
        yield running


def send(served: Daemon, parcel: dict[str, Any]) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "Post.send", "params": {"parcel": parcel}}
    answer: dict[str, Any] = served.post("/rpc", message).json()
    return answer


@pytest.mark.parametrize(
    ("parcel", "became"),
    [
        pytest.param({"strict": {"number": 1}}, {"strict": "Part"}, id="a strict property that fits"),
        pytest.param({"strict": {"number": 1, "more": 2}}, {"strict": "Part"}, id="an open class drops what it lacks"),
        pytest.param({"closed": {"number": 1}}, {"closed": "Closed"}, id="a closed class that fits"),
        pytest.param({"loose": {"number": 1}}, {"loose": "Part"}, id="a loose property that fits"),
        pytest.param({"loose": {"number": "one"}}, {"loose": "dict"}, id="a loose property keeps what does not fit"),
        pytest.param({"loose": {}}, {"loose": "dict"}, id="and what lacks something"),
        pytest.param({"anything": {"number": "one"}}, {"anything": {"number": "one"}}, id="any keeps everything"),
    ],
)
def test_a_property_that_takes_it(served: Daemon, parcel: dict[str, Any], became: dict[str, Any]) -> None:
    """A-RPC-67: a property takes what its own type does; one whose type has room for it keeps what does not fit."""
    assert send(served, parcel)["result"] == {**NOTHING, **became}


@pytest.mark.parametrize(
    ("parcel", "path"),
    [
        pytest.param({"strict": {"number": "one"}}, "parcel.strict.number", id="a strict property never keeps it"),
        pytest.param({"strict": {"number": "1"}}, "parcel.strict.number", id="nor makes a number of a text"),
        pytest.param({"strict": {}}, "parcel.strict.number", id="nor goes without"),
        pytest.param({"closed": {"number": 1, "more": 2}}, "parcel.closed.more", id="a closed class refuses a key"),
        pytest.param({"loose": "text"}, "parcel.loose", id="a loose property has its bounds"),
    ],
)
def test_a_property_that_refuses_it(served: Daemon, parcel: dict[str, Any], path: str) -> None:
    """A-RPC-67: beside a property that is loose the others are as strict as ever, and the error has the path."""
    error = send(served, parcel)["error"]
    assert error["code"] == -32602
    assert path in error["data"]["extra"]


def test_a_rule_that_nobody_would_enforce() -> None:
    """A note that looks like a rule and is none keeps the daemon from starting, on a class's field too, and says what to write."""
    plugin = PLUGIN.replace(
        "    number: int\n\n\nclass Closed", "    number: int\n    at: Noon | None = None\n\n\nclass Closed"
    )
    plugin = plugin.replace(
        "import rpcgw as rpc\n",
        "from datetime import datetime\n\nfrom annotated_types import Timezone\n\nimport rpcgw as rpc\n\n"
        "Noon = Annotated[datetime, Timezone(...)]\n",
        1,
    )
    refused = refusal(plugins={"post.py": plugin})
    assert refused.code == 78
    assert refused.about("error[note]", "Timezone")
    assert refused.about("rpc.Zoned()")
