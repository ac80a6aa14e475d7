"""What a procedure may do with its context where nobody can be spoken to."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import rpcgw as rpc
from rpcgw.api.context import LogLevel


class Told:
    """A client that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    async def progress(self, progress: float, total: float | None, message: str | None, /) -> None:
        self.told.append((progress, total, message))

    async def log(self, level: LogLevel, data: object, logger: str | None, /) -> None:
        self.told.append((level, data, logger))

    def has(self, capability: str, /) -> bool:
        return capability == "sampling"


def context(client: Told | None = None) -> rpc.CallContext:
    return rpc.CallContext(rpc.Principal(), "demo", 1, "Demo.work", "rpc", "en", "ray", client=client)


async def test_nobody_hears_where_there_is_no_client() -> None:
    """`/rpc`, the queue and the command line: a procedure need not ask where it runs."""
    await context().progress(1, 2, "half")
    await context().log("info", "text")


async def test_a_client_hears_it_as_it_was_said() -> None:
    """Whether it is sent is the surface's business."""
    client = Told()
    await context(client).progress(1)
    await context(client).log("info", {"a": 1}, "demo")
    assert client.told == [(1, None, None), ("info", {"a": 1}, "demo")]


async def test_an_unknown_level_is_refused_everywhere() -> None:
    """A mistake of the author's shows without any client."""
    with pytest.raises(ValueError, match="'warn' is no level; they are debug, info"):
        await context().log("warn", "text")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("client", "capability", "missing"),
    [
        pytest.param(Told(), "sampling", None, id="a client that has it"),
        pytest.param(Told(), "roots", {"roots": {}}, id="a client that lacks it"),
        pytest.param(Told(), "elicitation.url", {"elicitation": {"url": {}}}, id="a part of one"),
        pytest.param(None, "sampling", {"sampling": {}}, id="nobody there"),
    ],
)
def test_what_a_call_requires_of_its_client(
    client: Told | None, capability: str, missing: dict[str, object] | None
) -> None:
    """Refused with an error that says what a client would have to declare."""
    if missing is None:
        context(client).require(capability)
        return
    with pytest.raises(rpc.CapabilityMissing) as refused:
        context(client).require(capability)
    assert refused.value.required == missing
    assert refused.value.extra == {"requiredCapabilities": missing}


CLAIMS = {"sub": "ann", "roles": ["admin"], "org": {"name": "acme", "units": [{"id": 1}]}}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda claims: claims.update(sub="eve"), id="update"),
        pytest.param(lambda claims: claims.__setitem__("sub", "eve"), id="a member"),
        pytest.param(lambda claims: claims.__delitem__("sub"), id="del"),
        pytest.param(lambda claims: claims.__ior__({"sub": "eve"}), id="a union in place"),
        pytest.param(lambda claims: claims.pop("sub"), id="pop"),
        pytest.param(lambda claims: claims.popitem(), id="popitem"),
        pytest.param(lambda claims: claims.setdefault("more", 1), id="setdefault"),
        pytest.param(lambda claims: claims.clear(), id="clear"),
        pytest.param(lambda claims: claims["roles"].append("root"), id="an item of a list"),
        pytest.param(lambda claims: claims["roles"].__iadd__(["root"]), id="a list in place"),
        pytest.param(lambda claims: claims["roles"].sort(), id="the order of a list"),
        pytest.param(lambda claims: claims["org"].update(name="evil"), id="a member of an object within"),
        pytest.param(lambda claims: claims["org"]["units"][0].update(id=2), id="an object in a list"),
    ],
)
def test_claims_cannot_be_changed(change: Callable[[Any], object]) -> None:
    """Whoever tries is told so, at any depth, and those who share them see no difference."""
    principal = rpc.Principal("ann", claims=CLAIMS)
    with pytest.raises(TypeError, match="cannot be changed"):
        change(principal.claims)
    assert principal.claims == CLAIMS


def test_claims_are_those_of_their_time() -> None:
    """What they were made of may change; they do not."""
    made = {"roles": ["admin"]}
    principal = rpc.Principal(claims=made)
    made["roles"].append("root")
    assert principal.claims == {"roles": ["admin"]}


@pytest.mark.parametrize(
    "copied",
    [
        pytest.param(lambda value: json.loads(json.dumps(value)), id="json"),
        pytest.param(lambda value: msgspec.json.decode(msgspec.json.encode(value)), id="msgspec"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(lambda value: pickle.loads(pickle.dumps(value)), id="pickle"),
        pytest.param(dict, id="a dict to work with"),
    ],
)
def test_claims_are_plain_values(copied: Callable[[Any], object]) -> None:
    """They are dicts and lists for everything that only reads."""
    assert copied(rpc.Principal(claims=CLAIMS).claims) == CLAIMS
