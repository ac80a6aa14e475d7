"""Which configurations may be served where they are bound."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from rpcgw.api.problems import Place
from rpcgw.config.route import Route
from rpcgw.config.settings import Security, Server, Settings, Token
from rpcgw.gateway.protection import is_loopback, laid_open, protection_problems

OPEN = Security(protected_api=False)
CLOSED = Security(protected_api=True, tokens=(Token("t", "0" * 64),))
LOCKED = Security(protected_api=True)
PUBLIC = "https://tools.example.com"
ASKING = Security(protected_api=True, validator="keys")


def route(group: str = "rpc", name: str = "rpc") -> Route:
    """A route of a group."""
    return Route(name, "rpc", f"/{name}", group, "", Place("routes.yaml", 1))


def settings(security: Security, *binds: str, routes: tuple[Route, ...] = (route(),), **server: Any) -> Settings:
    """Settings in which everybody's groups have the same security."""
    return Settings(
        "gateway.yaml", routes=routes, security={"": security}, server=Server(bind=binds or ("127.0.0.1:80",), **server)
    )


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        pytest.param(settings(OPEN), [], id="an open group on loopback"),
        pytest.param(settings(OPEN, "[::1]:80", "localhost:1", "unix:/s"), [], id="on every kind of loopback"),
        pytest.param(settings(OPEN, "0.0.0.0:80"), ["unprotected"], id="an open group for everybody"),
        pytest.param(settings(OPEN, "127.0.0.1:80", "[::]:80"), ["unprotected"], id="one address of two is public"),
        pytest.param(settings(OPEN, "0.0.0.0:80", allow_unprotected=True), [], id="as the operator says"),
        pytest.param(settings(CLOSED, "0.0.0.0:80"), [], id="a protected group for everybody"),
        pytest.param(settings(LOCKED), ["no-token"], id="a protected group that nobody has a token for"),
        pytest.param(settings(LOCKED, allow_unprotected=True), ["no-token"], id="which no option makes usable"),
        pytest.param(settings(ASKING), ["unknown-validator"], id="a validator that no plugin brings"),
        pytest.param(
            settings(OPEN, "0.0.0.0:80", routes=(route(), route(name="two"), route("b", "b"))),
            ["unprotected", "unprotected"],
            id="each group once, however many routes it has",
        ),
        pytest.param(settings(OPEN, "0.0.0.0:80", public_url=PUBLIC), ["unprotected"], id="one is said once"),
        pytest.param(settings(OPEN, "0.0.0.0:80", routes=()), [], id="nothing is served"),
    ],
)
def test_what_keeps_a_configuration_from_being_served(given: Settings, codes: list[str]) -> None:
    """Each problem by its code, errors all."""
    found = protection_problems(given)
    assert [problem.code for problem in found] == codes
    assert all(problem.level == "error" and problem.hint for problem in found)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        pytest.param(settings(OPEN, public_url=PUBLIC), 1, id="an open group on loopback"),
        pytest.param(settings(OPEN, "unix:/s", public_url=PUBLIC), 1, id="on a unix socket"),
        pytest.param(settings(OPEN, public_url="http://localhost:8080"), 0, id="whose own address it is"),
        pytest.param(settings(OPEN, public_url=PUBLIC, allow_unprotected=True), 0, id="as the operator says"),
        pytest.param(settings(CLOSED, public_url=PUBLIC), 0, id="a protected group"),
        pytest.param(settings(OPEN, public_url=PUBLIC, routes=(route(), route("b", "b"))), 2, id="each group"),
    ],
)
def test_an_open_group_that_a_proxy_shows_to_everybody(given: Settings, count: int) -> None:
    """A public URL says that others reach a loopback address, too; who knows that may go on, and is warned."""
    found = protection_problems(given)
    assert [(problem.code, problem.level, PUBLIC in problem.text) for problem in found] == [
        ("unprotected", "warning", True)
    ] * count


@pytest.mark.parametrize(
    ("given", "bound", "count"),
    [
        pytest.param(settings(OPEN), "0.0.0.0:80", 1, id="open, and still for everybody"),
        pytest.param(settings(OPEN), "127.0.0.1:80", 0, id="open, on loopback"),
        pytest.param(settings(CLOSED), "0.0.0.0:80", 0, id="protected, for everybody"),
        pytest.param(settings(OPEN, allow_unprotected=True), "0.0.0.0:80", 0, id="as the operator says"),
    ],
)
def test_what_a_reload_would_lay_open(given: Settings, bound: str, count: int) -> None:
    """Not the addresses that are wanted decide, but those that are served until a restart; the hint says so."""
    found = laid_open(given, [bound])
    assert [(problem.code, bound in problem.text) for problem in found] == [("unprotected", True)] * count
    assert all("restart the daemon" in problem.hint for problem in found)


@pytest.mark.parametrize(
    ("known", "count"), [pytest.param({"keys"}, 0, id="it is there"), pytest.param({"other"}, 1, id="another is")]
)
def test_a_validator_stands_for_tokens(known: Collection[str], count: int) -> None:
    """A group whose validator a plugin brings needs no token of its own."""
    assert len(protection_problems(settings(ASKING), known)) == count


@pytest.mark.parametrize(
    ("address", "local"),
    [
        pytest.param("127.0.0.1:80", True, id="the usual one"),
        pytest.param("127.9.9.9:80", True, id="another of its network"),
        pytest.param("[::1]:80", True, id="IPv6"),
        pytest.param("localhost:80", True, id="by name"),
        pytest.param("unix:/run/s", True, id="a unix socket"),
        pytest.param("0.0.0.0:80", False, id="all addresses"),
        pytest.param("[::]:80", False, id="all addresses of IPv6"),
        pytest.param("10.0.0.1:80", False, id="a private network"),
        pytest.param("localhost.example:80", False, id="a name that begins alike"),
        pytest.param("nonsense", False, id="no address"),
    ],
)
def test_loopback(address: str, local: bool) -> None:
    """Whether only this machine reaches an address."""
    assert is_loopback(address) is local
