"""Who holds a token."""

import asyncio
import hashlib

import pytest
from multidict import CIMultiDict

from rpcgw.access.tokens import Denied, Tokens, compile_tokens
from rpcgw.api.context import Principal


def sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


TOKENS = compile_tokens(
    "Ufo-RPC-Token", [("crm", sha256("s3cret"), None), ("shop", sha256("ключ"), None), ("old", sha256("gone"), 1000.0)]
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param([("Ufo-RPC-Token", "s3cret")], "crm", id="the group's own header"),
        pytest.param([("UFO-RPC-TOKEN", "s3cret")], "crm", id="in any case"),
        pytest.param([("Ufo-RPC-Token", "ключ")], "shop", id="a token that is not ASCII"),
        pytest.param([("Authorization", "Bearer s3cret")], "crm", id="as a bearer token"),
        pytest.param([("Authorization", "bearer  s3cret ")], "crm", id="as a bearer token in lower case, with spaces"),
        pytest.param([("Ufo-RPC-Token", "s3cret"), ("Authorization", "Bearer no")], "crm", id="the own header wins"),
        pytest.param([("Ufo-RPC-Token", "no"), ("Authorization", "Bearer s3cret")], Denied.WRONG, id="even if wrong"),
        pytest.param([], Denied.ABSENT, id="nothing"),
        pytest.param([("Authorization", "Basic czNjcmV0")], Denied.ABSENT, id="another scheme is not for us"),
        pytest.param([("Authorization", "s3cret")], Denied.ABSENT, id="no scheme"),
        pytest.param([("Ufo-RPC-Token", "")], Denied.WRONG, id="an empty token was sent, and is wrong"),
        pytest.param([("Authorization", "Bearer ")], Denied.WRONG, id="an empty bearer token"),
        pytest.param([("Ufo-RPC-Token", "s3cre")], Denied.WRONG, id="a part of one"),
        pytest.param([("Ufo-RPC-Token", sha256("s3cret"))], Denied.WRONG, id="the digest is no token"),
        pytest.param([("Ufo-RPC-Token", "\udcff")], Denied.WRONG, id="bytes that are no UTF-8"),
        pytest.param([("X-Token", "s3cret")], Denied.ABSENT, id="some other header"),
        pytest.param(
            [("Authorization", "Bearer s3cret"), ("Authorization", "Bearer no")], Denied.ABSENT, id="two bearer tokens"
        ),
        pytest.param(
            [("Authorization", "Basic eA=="), ("authorization", "Bearer s3cret")], Denied.ABSENT, id="two schemes"
        ),
    ],
)
def test_identify(fields: list[tuple[str, str]], expected: str | Denied) -> None:
    """A token stands for its name; anything else is absent or wrong."""
    found = TOKENS.identify(CIMultiDict(fields), now=0.0)
    assert (found.name if isinstance(found, Principal) else found) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(999.9, Principal("old", expires=1000.0), id="before"),
        pytest.param(1000.0, Denied.EXPIRED, id="at the second"),
        pytest.param(5000.0, Denied.EXPIRED, id="after"),
    ],
)
def test_expiry(now: float, expected: Principal | Denied) -> None:
    """A token ends at its time."""
    assert TOKENS.identify(CIMultiDict({"Ufo-RPC-Token": "gone"}), now) == expected


def test_no_tokens_let_nobody_in() -> None:
    """An empty list accepts nothing."""
    assert Tokens("ufo-rpc-token", ()).identify(CIMultiDict({"Ufo-RPC-Token": ""}), 0.0) is Denied.WRONG


@pytest.mark.parametrize("sent", ["s3cret", "Bearer s3cret"])
def test_authorization_as_the_own_header(sent: str) -> None:
    """A group may name Authorization as its header; the scheme may be left out then."""
    tokens = compile_tokens("Authorization", [("crm", sha256("s3cret"), None)])
    assert tokens.identify(CIMultiDict({"Authorization": sent}), 0.0) == Principal("crm")


@pytest.mark.parametrize("digest", ["abcd", "zz" * 32])
def test_no_digest(digest: str) -> None:
    """What is no SHA-256 is refused when it is compiled."""
    with pytest.raises(ValueError):
        compile_tokens("Ufo-RPC-Token", [("crm", digest, None)])


def test_tokens_do_not_show_in_a_repr() -> None:
    """A token cannot leak from what is kept of it."""
    assert "s3cret" not in repr(TOKENS)


KNOWN = compile_tokens(
    "Ufo-RPC-Token",
    [("crm", sha256("s3cret"), None), ("old", sha256("gone"), 1000.0)],
    lambda token: Principal(f"plugin {token}") if token != "no" else None,
)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        pytest.param("s3cret", Principal("crm"), id="a token of the configuration is not asked about"),
        pytest.param("other", Principal("plugin other"), id="one that the plugin knows"),
        pytest.param("no", Denied.WRONG, id="one that nobody knows"),
        pytest.param("gone", Denied.EXPIRED, id="one that has expired is not asked about"),
    ],
)
def test_a_plugin_knows_further_tokens(token: str, expected: Principal | Denied) -> None:
    """What the configuration says of a token holds; of all others a validator may say whose they are."""
    assert KNOWN.holder(token, 2000.0) == expected


class Odd(BaseException):
    """No Exception."""


@pytest.mark.parametrize("error", [KeyError, SystemExit, GeneratorExit, asyncio.CancelledError, Odd])
def test_a_validator_that_raises_lets_nobody_in(error: type[BaseException]) -> None:
    """Whatever it is; who has failed is the validator, and its words are kept back."""

    def validator(token: str) -> Principal | None:
        raise error(token)

    said = compile_tokens("Ufo-RPC-Token", [], validator).holder("s3cret", 0.0)
    assert isinstance(said, Denied)
    assert (said.failed, error.__name__ in said.value, "s3cret" in said.value) == (True, True, False)
