"""Which heads the fast front reads by itself, and which it leaves alone."""

from __future__ import annotations

import pytest

from rpcgw.adapters.http import heads

FIELDS = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": "12"}


def head(change: dict[str, str | None] | None = None, first: str = "POST /mcp HTTP/1.1", more: str = "") -> bytes:
    """A head as it is read: without the blank line. A field given as None is left out."""
    fields = {name: value for name, value in {**FIELDS, **(change or {})}.items() if value is not None}
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in fields.items())]).encode(
        "latin-1"
    ) + more.encode("latin-1")


def test_an_ordinary_head_is_read() -> None:
    """Its target as it was sent, its fields by lower-case name, the length of its body."""
    request = heads.read(head())
    assert request is not None
    assert (request.target, request.length) == ("/mcp", 12)
    assert (request.fields.get("content-type"), request.fields.get("accept")) == ("application/json", None)
    assert (request.fields.getall("host", []), request.fields.getall("origin", [])) == (["localhost"], [])


READ = [
    pytest.param(head({"Content-Length": "0"}), id="an empty body"),
    pytest.param(head({"Connection": "keep-alive"}), id="a connection that stays"),
    pytest.param(head({"Connection": "Keep-Alive"}), id="the same, as others write it"),
    pytest.param(head({"Connection": "close"}), id="a connection that is to end"),
    pytest.param(head(more="\r\nAccept:*/*"), id="no blank after the colon"),
    pytest.param(head(more="\r\nX-Empty:"), id="an empty field"),
    pytest.param(head({"X-Tab": "a\tb"}), id="a tab within a value"),
    pytest.param(head(first="POST /mcp?a=b HTTP/1.1"), id="a query, which no route has"),
    pytest.param(head({"X": "y" * 7000}), id="a long field"),
]


@pytest.mark.parametrize("data", READ)
def test_heads_that_are_read(data: bytes) -> None:
    """They say beyond doubt what they are."""
    assert heads.read(data) is not None


LEFT = [
    pytest.param(head({"Content-Length": None}), id="no length"),
    pytest.param(head(more="\r\nContent-Length: 12"), id="a length twice, the same"),
    pytest.param(head(more="\r\ncontent-length: 0"), id="a length twice, another"),
    pytest.param(head({"Content-Length": "+12"}), id="a length with a sign"),
    pytest.param(head({"Content-Length": "-1"}), id="a negative length"),
    pytest.param(head({"Content-Length": "012"}), id="a length with a leading zero"),
    pytest.param(head({"Content-Length": "0xc"}), id="a length in hexadecimal"),
    pytest.param(head({"Content-Length": "1_2"}), id="a length with an underscore"),
    pytest.param(head({"Content-Length": "12, 12"}), id="a list of lengths"),
    pytest.param(head({"Content-Length": ""}), id="an empty length"),
    pytest.param(head({"Content-Length": "9" * 19}), id="a length that overflows"),
    pytest.param(head({"Content-Length": "\xb2"}), id="a digit that is none in ASCII"),
    pytest.param(head({"Content-Length": "12 "}), id="a blank after the length"),
    pytest.param(head({"Content-Length": " 12"}), id="two blanks before the length"),
    pytest.param(head({"Transfer-Encoding": "chunked"}), id="a transfer coding beside a length"),
    pytest.param(head({"Content-Length": None, "Transfer-Encoding": "chunked"}), id="a transfer coding"),
    pytest.param(head({"Transfer-Encoding": "identity"}), id="a transfer coding that is none"),
    pytest.param(head({"Expect": "100-continue"}), id="an expectation"),
    pytest.param(head({"Upgrade": "h2c"}), id="an upgrade"),
    pytest.param(head({"Content-Encoding": "gzip"}), id="a content coding"),
    pytest.param(head({"TE": "trailers"}), id="trailers that may come"),
    pytest.param(head({"Trailer": "X"}), id="trailers that are announced"),
    pytest.param(head({"Connection": "close, TE"}), id="a connection that is to end, with options"),
    pytest.param(head({"Connection": "keep-alive, Upgrade"}), id="a connection with options"),
    pytest.param(head(more="\r\nhost: other"), id="a field twice"),
    pytest.param(head({"Host": None}), id="no host"),
    pytest.param(head(more="\r\n folded"), id="a folded line"),
    pytest.param(head(more="\r\n\tfolded"), id="a line folded with a tab"),
    pytest.param(head(more="\r\nX-A : b"), id="a blank before the colon"),
    pytest.param(head(more="\r\n: b"), id="a field without a name"),
    pytest.param(head(more="\r\nX-A"), id="a line without a colon"),
    pytest.param(head(more="\r\nX_A: b"), id="a name with an underscore"),
    pytest.param(head(more="\r\nX\x7fA: b"), id="a name with a control character"),
    pytest.param(head({"X-A": "b\0c"}), id="a NUL"),
    pytest.param(head({"X-A": "b\rc"}), id="a bare CR"),
    pytest.param(head({"X-A": "b\nContent-Length: 0"}), id="a bare LF"),
    pytest.param(head(more="\n\r"), id="LF and CR the wrong way round"),
    pytest.param(head(more="\r"), id="a CR at the end"),
    pytest.param(head({"X-A": "\xfc"}), id="a byte beyond ASCII"),
    pytest.param(head(first="GET /mcp HTTP/1.1"), id="GET"),
    pytest.param(head(first="post /mcp HTTP/1.1"), id="a method in lower case"),
    pytest.param(head(first="POST /mcp HTTP/1.0"), id="HTTP/1.0"),
    pytest.param(head(first="POST /mcp HTTP/2.0"), id="HTTP/2.0"),
    pytest.param(head(first="POST /mcp http/1.1"), id="a protocol in lower case"),
    pytest.param(head(first="POST /mcp"), id="HTTP/0.9"),
    pytest.param(head(first="\r\nPOST /mcp HTTP/1.1"), id="an empty line first"),
    pytest.param(head({f"X-{number}": "" for number in range(100)}), id="fields without end"),
    pytest.param(b"", id="nothing"),
]


@pytest.mark.parametrize("data", LEFT)
def test_heads_that_are_left_alone(data: bytes) -> None:
    """Whatever two readers could take differently, or what changes how the answer must be given."""
    assert heads.read(data) is None


def test_a_head_that_is_too_long_is_left_alone_and_not_remembered() -> None:
    """Only what is short is kept for the next request: a client could have megabytes kept of each of its heads."""
    before = heads.read.cache_info()
    assert heads.first(head({"X-Long": "a" * heads.LONGEST}) + heads.END) is None
    assert heads.read.cache_info() == before


def test_where_the_body_is() -> None:
    """After the blank line, as long as the head says, whatever follows."""
    data = head() + heads.END + b'{"id":"abc"}POST '
    found = heads.first(data)
    assert isinstance(found, heads.Request)
    begin = len(found.lead)
    assert data[:begin] == found.lead
    assert data[begin : begin + found.length] == b'{"id":"abc"}'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"P", 2, id="one byte"),
        pytest.param(b"POST ", 6, id="a method"),
        pytest.param(head(), len(head()) + 1, id="no blank line yet"),
        pytest.param(b"GET ", None, id="another method"),
        pytest.param(b"\x16\x03\x01", None, id="TLS"),
        pytest.param(b"\r\n", None, id="an empty line"),
        pytest.param(b"POST " + b"/" * 8000, None, id="more than a head may have"),
    ],
)
def test_bytes_in_which_no_head_ends(data: bytes, expected: int | None) -> None:
    """One more is waited for while they may become a head, and no longer."""
    assert heads.first(data) == expected
