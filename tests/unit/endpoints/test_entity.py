"""Documents on the wire: tags, 304, compression."""

import gzip

import pytest
from multidict import CIMultiDict

from rpcgw.endpoints.entity import SMALLEST_COMPRESSED, entity, etag_of
from rpcgw.exchange import Head, Reply

SMALL = b'{"a":1}'
LARGE = b'{"a":"' + b"x" * SMALLEST_COMPRESSED + b'"}'
JSON = (("Content-Type", "application/json"), ("Content-Language", "uk"))


def asked(body: bytes, *, private: bool = False, **headers: str) -> Reply:
    fields = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    return entity(body, JSON, Head("GET", "/rpc", "", fields), private=private, vary="Accept-Language")


def test_described() -> None:
    """T-03: a document says its language, its tag, and that it depends on the client's language."""
    assert asked(SMALL) == Reply(
        200,
        SMALL,
        (*JSON, ("ETag", etag_of(SMALL)), ("Cache-Control", "no-cache"), ("Vary", "Accept-Language")),
    )


def test_private() -> None:
    """What needs a token is kept by no shared cache."""
    assert dict(asked(SMALL, private=True).headers)["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(etag_of(SMALL), 304, id="the same"),
        pytest.param(f'"other", W/{etag_of(SMALL)}', 304, id="among others, weak"),
        pytest.param("*", 304, id="any"),
        pytest.param('"other"', 200, id="another"),
    ],
)
def test_known(sent: str, status: int) -> None:
    """Who has the document already is told so, without a body."""
    reply = asked(SMALL, If_None_Match=sent)
    assert (reply.status, reply.body) == (status, b"" if status == 304 else SMALL)
    assert dict(reply.headers)["ETag"] == etag_of(SMALL)


@pytest.mark.parametrize(
    ("body", "accepts", "compressed"),
    [
        pytest.param(LARGE, "gzip", True, id="taken"),
        pytest.param(LARGE, "br, GZIP;q=0.5", True, id="taken, less gladly"),
        pytest.param(LARGE, "gzip;q=0", False, id="refused"),
        pytest.param(LARGE, "gzip;q=0.000, br", False, id="refused in full"),
        pytest.param(LARGE, "br", False, id="not named"),
        pytest.param(SMALL, "gzip", False, id="too small to gain"),
    ],
)
def test_compressed(body: bytes, accepts: str, compressed: bool) -> None:
    """A large document is compressed for who takes that; it is another entity then."""
    reply = asked(body, Accept_Encoding=accepts)
    headers = dict(reply.headers)
    assert isinstance(reply.body, bytes)
    assert (gzip.decompress(reply.body) if compressed else reply.body) == body
    assert headers.get("Content-Encoding") == ("gzip" if compressed else None)
    assert (headers["ETag"] == etag_of(body)) is not compressed
    assert headers["Vary"] == ("Accept-Language, Accept-Encoding" if body is LARGE else "Accept-Language")
    known = asked(body, Accept_Encoding=accepts, If_None_Match=headers["ETag"])
    assert known.status == 304
