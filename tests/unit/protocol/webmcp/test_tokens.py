"""Tokens that pages call with: what they are bound to, and when they end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from rpcgw.protocol.webmcp.tokens import LONGEST, Offer, Refused, expiry, read, sign

SECRET = b"0123456789abcdef"
OFFER = Offer("main", "find", "Catalog.search", "public", 1, True, 1000)
TOKEN = sign(OFFER, SECRET)
BODY, SIGNATURE = TOKEN.removeprefix("v1.").split(".")


def test_a_token_is_read_again() -> None:
    """What was offered comes back, while it holds."""
    assert read(TOKEN, "main", "find", 999.9, SECRET) == OFFER


LONG = "x" * LONGEST
REFUSED = [
    pytest.param(TOKEN, {"now": 1000.0}, Refused.EXPIRED, id="its end has come"),
    pytest.param(TOKEN, {"site": "other"}, Refused.INVALID, id="of another site"),
    pytest.param(TOKEN, {"tool": "other"}, Refused.INVALID, id="of another tool"),
    pytest.param(TOKEN, {"secret": b"another secret.."}, Refused.INVALID, id="of another daemon"),
    pytest.param(TOKEN[:-1], {}, Refused.INVALID, id="cut"),
    pytest.param(f"v1.{BODY}x.{SIGNATURE}", {}, Refused.INVALID, id="another body"),
    pytest.param(f"v2.{BODY}.{SIGNATURE}", {}, Refused.INVALID, id="another kind"),
    pytest.param(f"{BODY}.{SIGNATURE}", {}, Refused.INVALID, id="no kind"),
    pytest.param("", {}, Refused.INVALID, id="nothing"),
    pytest.param("ü.ü.ü", {}, Refused.INVALID, id="other letters"),
    pytest.param(f"v1.{LONG}", {}, Refused.INVALID, id="too long"),
    pytest.param(sign(replace(OFFER, site=LONG), SECRET), {"site": LONG}, Refused.INVALID, id="a genuine one that is too long"),
]  # fmt: skip


@pytest.mark.parametrize(("token", "asked", "why"), REFUSED)
def test_what_is_refused(token: str, asked: dict[str, Any], why: Refused) -> None:
    """A token holds for its site, its tool, its time, and where it was made."""
    assert read(token, **{"site": "main", "tool": "find", "now": 0.0, "secret": SECRET, **asked}) is why


@pytest.mark.parametrize("now", [0.0, 0.5, 899.0, 900.0, 1799.9, 123_456_789.0])
def test_expiry(now: float) -> None:
    """A token holds for half its time to live at least, all of it at most, and is the same for that half."""
    end = expiry(now, 1800)
    assert 900 <= end - int(now) <= 1800
    assert end == expiry(now // 900 * 900, 1800)


def test_a_short_time_to_live() -> None:
    """Even a second is a time."""
    assert expiry(7.0, 1) == 8
