"""Every parser that faces the network, as a check of any bytes: what is accepted is stable, what is refused is known.

A check raises where a promise is broken, `AssertionError` or whatever the parser let out; returning is passing. Each
works with real parsers only, so that pytest, hypothesis and a coverage-guided fuzzer can use the same ones.

* accepted: writing what was read and reading it again gives the same value;
* refused: the status is one of `STATUSES`, and the refusal itself can be written.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from multidict import CIMultiDict

from rpcgw.access.addresses import compile_proxies, counted_as
from rpcgw.access.guards import compile_guards
from rpcgw.access.names import normal_origin, split_authority
from rpcgw.access.tokens import bearer_of
from rpcgw.access.webhooks import parse, parse_callback
from rpcgw.endpoints.entity import entity, etag_of
from rpcgw.exchange import Head, Rejected
from rpcgw.kernel.codec import NotJson, decode, encode
from rpcgw.protocol import trace
from rpcgw.protocol.jsonrpc import answers as rpc_answers
from rpcgw.protocol.jsonrpc import envelope, jobs
from rpcgw.protocol.mcp import answers as mcp_answers
from rpcgw.protocol.mcp import headers, notices, sessions
from rpcgw.protocol.mcp.classify import classify
from rpcgw.protocol.mcp.faults import INVALID_PARAMS, Fault, Refused
from rpcgw.protocol.mcp.listing import Listing
from rpcgw.protocol.mcp.messages import Batch, Legacy, Message, Modern
from rpcgw.protocol.webmcp import agents, beacons, calls, page, site, statistics, tokens
from rpcgw.texts.negotiate import negotiate
from tests.fuzz.doors import ask, first_cursor, listing

STATUSES: Final = frozenset({400, 401, 403, 404, 405, 406, 409, 413, 415, 421, 429, 503})
"""What a request may be refused with. Anything else, a 500 above all, is a mistake."""
SECRET: Final = b"a secret of the fuzzed tokens"
NOW: Final = 1_800_000_000.0
LOCALES: Final = ("en", "uk", "de", "de-AT", "zh-Hant", "pt-BR")
MOST: Final = 20

Check = Callable[[bytes], None]


def text_of(data: bytes) -> str:
    """Bytes as the door has them in a header field."""
    return data.decode("utf-8", "surrogateescape")


def head_of(data: bytes, method: str = "POST") -> tuple[Head, bytes]:
    """Header lines, an empty line, a body; of lines what a door would let through."""
    lines, _, body = data.partition(b"\n\n")
    fields: CIMultiDict[str] = CIMultiDict()
    for line in lines.split(b"\n")[:32]:
        name, colon, value = line.partition(b":")
        if colon and name.isascii() and name.replace(b"-", b"").isalnum() and not {0, 13} & set(value):
            fields.add(name.decode().lower(), text_of(value.strip(b" \t")))
    return Head(method, "/", "", fields, "192.0.2.7", unix=False), body


def same(first: object, second: object) -> None:
    """The promise of whatever is accepted."""
    assert first == second, f"{first!r} was written and read again as {second!r}"


def refused_with(status: int) -> None:
    """The promise of whatever is not."""
    assert status in STATUSES, f"{status} is in no table"


# -- JSON and the two envelopes


def json_text(data: bytes) -> None:
    """`kernel.codec`: every text that is accepted is written and read again as it was."""
    try:
        value = decode(data)
    except NotJson:
        return
    written = encode(value)
    same(written, encode(decode(written)))


def rpc_envelope(data: bytes) -> None:
    """`/rpc`: calls, notifications and batches; a fault can be answered."""
    read = envelope.read(data, MOST)
    for item in read.items if isinstance(read, envelope.Batch) else (read,):
        if isinstance(item, envelope.Request):
            again = jobs.read_job(jobs.write_job(jobs.Job(item)))
            assert isinstance(again, jobs.Job), again
            same(encode(item), encode(again.request))
        else:
            decode(rpc_answers.fault_answer(item))
    if isinstance(read, envelope.Fault) and not read.silent:
        status = rpc_answers.fault_reply(read).status
        assert status in {200, 400}


def queue_message(data: bytes) -> None:
    """What anybody may put into a queue."""
    read = jobs.read_job(data)
    if isinstance(read, str):
        assert read
        return
    again = jobs.read_job(jobs.write_job(read))
    same(encode(read), encode(again))


def mcp_message(data: bytes) -> None:
    """`/mcp`: header fields and a body to one of five kinds of message."""
    head, body = head_of(data)
    read = classify(head.headers, body, MOST)
    for item in read.items if isinstance(read, Batch) else (read,):
        if isinstance(item, Refused):
            refused_with(item.status)
            decode(mcp_answers.error(item))
    if isinstance(read, Refused):
        reply = mcp_answers.refusal(read)
        assert reply.status == read.status
        return
    same(_plain(read), _plain(classify(head.headers, encode(_message(read)), MOST)))


def _message(read: Message) -> object:
    """A message as its sender would write it."""
    if isinstance(read, Batch):
        return [_message(item) for item in read.items]
    if isinstance(read, Refused):
        return None
    made: dict[str, Any] = {"jsonrpc": "2.0", "method": read.method, "params": read.params}
    if isinstance(read, Modern | Legacy):
        made["id"] = read.id
    elif not read.method:
        # A response, which a client of a session may send and nobody looks at.
        made = {"jsonrpc": "2.0", "result": {}, "params": read.params}
    return made


def _plain(read: Message) -> object:
    if isinstance(read, Batch):
        return [_plain(item) for item in read.items]
    if isinstance(read, Refused):
        return "refused"
    identifier = read.id if isinstance(read, Modern | Legacy) else None
    return type(read).__name__, identifier, read.method, encode(read.params)


# -- header fields


def mirrored_value(data: bytes) -> None:
    """`Mcp-Name` and the like: a value in clear or in its Base64 sentinel."""
    value = headers.decoded(text_of(data))
    if value is not None:
        sentinel = f"=?base64?{base64.b64encode(value.encode()).decode()}?="
        same(value, headers.decoded(sentinel))


def accept_language(data: bytes) -> None:
    """One of the languages that there are, and the same one when it is asked for by its name."""
    found = negotiate(text_of(data), LOCALES, "en")
    assert found in LOCALES
    same(found, negotiate(found, LOCALES, "en"))


def accept(data: bytes) -> None:
    """Whether a stream of events is wanted."""
    assert notices.accepts_events(text_of(data)) in {True, False}


def trace_context(data: bytes) -> None:
    """`traceparent`, `tracestate`, `baggage`: what is carried on is read again as the same context."""
    head, _ = head_of(data)
    found = trace.context(head.headers)
    same(found, trace.context(found))
    assert len(trace.trace_id(found)) in {0, 32}


def guarded_head(data: bytes) -> None:
    """`Host` and `Origin`: let in, or refused with a status of the table."""
    guards = compile_guards("https://tools.example.com", ["other.example:8080"], ["https://page.example"])
    verdict = guards.check(head_of(data)[0])
    if isinstance(verdict, Rejected):
        refused_with(verdict.status)
        decode(rpc_answers.rejected(verdict).body)  # type: ignore[arg-type]  # a refusal is no stream


def authority(data: bytes) -> None:
    """A host with a port, and an origin: in their normal form they stay as they are."""
    text = text_of(data)
    found = split_authority(text)
    if found is not None:
        host, port = found
        same(found, split_authority(f"{host}:{port}" if port else host))
    origin = normal_origin(text)
    if origin is not None:
        same(origin, normal_origin(origin))


def forwarded_for(data: bytes) -> None:
    """`X-Forwarded-For`: an address, which names itself."""
    head, _ = head_of(b"x-forwarded-for:" + data.replace(b"\n", b"\nx-forwarded-for:"))
    found = compile_proxies(["192.0.2.0/24", "2001:db8::/32"]).client_of(head)
    assert found
    counted = counted_as(found)
    assert counted_as(counted.partition("/")[0]) == counted


def bearer(data: bytes) -> None:
    """`Authorization`: a token, which is found again."""
    head, _ = head_of(b"authorization:" + data.replace(b"\n", b""))
    token = bearer_of(head.headers)
    if token is not None:
        same(token, bearer_of(CIMultiDict({"authorization": f"Bearer {token}"})))


def entity_tags(data: bytes) -> None:
    """`If-None-Match` and `Accept-Encoding`: the document, or 304 where the client names its tag."""
    head, _ = head_of(data, "GET")
    reply = entity(b"x" * 2000, (), head, private=False, vary="")
    assert reply.status in {200, 304}
    fields: CIMultiDict[str] = CIMultiDict(head.headers)  # type: ignore[arg-type]  # it is one
    fields["if-none-match"] = etag_of(reply.body) if isinstance(reply.body, bytes) and reply.body else "*"
    assert entity(b"x" * 2000, (), msgspec.structs.replace(head, headers=fields), private=False, vary="").status == 304


# -- small tokens


def session_id(data: bytes) -> None:
    """An id that reaches a store is letters and digits; a session that was kept is read as it was."""
    text = text_of(data)
    if sessions.is_plausible(text):
        assert text.isascii()
        assert sessions.key("mcp", text).endswith(text)
    kept = sessions.unpacked(data)
    if kept is not None:
        same(kept, sessions.unpacked(sessions.packed(kept)))


def cursor(data: bytes) -> None:
    """`tools/list`: a page, or the code for parameters; only what a page names is a cursor."""
    pages: Listing = listing()
    given = text_of(data)
    found = pages.page(given, "en")
    if isinstance(found, Fault):
        assert found.code == INVALID_PARAMS
        assert given != first_cursor()
    else:
        assert found.startswith(b'"tools":[')


def callback_url(data: bytes) -> None:
    """Where a webhook may go: what was taken apart and put together again is the same place."""
    target = parse_callback(text_of(data))
    if target is not None:
        host = f"[{target.host}]" if ":" in target.host else target.host
        same(target, parse(f"{target.scheme}://{host}:{target.port}{target.path}"))


# -- pages


def beacon(data: bytes) -> None:
    """What a page tells of a call; the client is a name that may be kept."""
    told = beacons.read(data, "shop", ("search",), NOW, ("mine",))
    if isinstance(told, beacons.Begun):
        same(told.client, agents.counted(told.client, ("mine",)))
        assert len(told.client) <= 64
    elif isinstance(told, beacons.Ended):
        body = encode({"call": told.call, "outcome": told.outcome, "ms": told.ms})
        same(told, beacons.read(body, "shop", ("search",), NOW))


def page_call(data: bytes) -> None:
    """What a page asks for."""
    asked = calls.read(data)
    if asked is not None:
        again = calls.read(encode(asked))
        assert again is not None
        same(encode(asked), encode(again))
        read = tokens.read(asked.token, "shop", asked.tool, NOW, SECRET)
        assert isinstance(read, tokens.Refused)


def page_token(data: bytes) -> None:
    """Nothing but what was signed here holds."""
    offer = tokens.Offer("shop", "search", "Catalog.search", "mcp", 1, asks=False, expires=int(NOW) + 60)
    genuine = tokens.sign(offer, SECRET)
    same(offer, tokens.read(genuine, "shop", "search", NOW, SECRET))
    given = text_of(data)
    assert given == genuine or isinstance(tokens.read(given, "shop", "search", NOW, SECRET), tokens.Refused)


def page_query(data: bytes) -> None:
    """Which page a configuration is asked for."""
    asked = page.asked(text_of(data))
    if asked is not None:
        assert asked.path.startswith("/")
        assert not asked.path.startswith("//")
        assert site.fits("/**", asked.path)
        assert site.fits("/shop/*", asked.path) in {True, False}


def dashboard_query(data: bytes) -> None:
    """What figures are asked for: a query that asks for itself."""
    given = dict(parse_qsl(text_of(data), keep_blank_values=True))
    asked = statistics.asked(given.get)
    again = {**{name: getattr(asked, name) for name in ("site", "tool", "client", "outcome")}, "days": str(asked.days)}
    same(asked, statistics.asked(again.get))


# -- whole endpoints, from a head and a body to a reply


def rpc_door(data: bytes) -> None:
    """`/rpc`: an answer in JSON with a status of the table, whatever is sent."""
    head, body = head_of(data)
    _answered(*ask("/rpc/general", head, body), {200, 204})


def mcp_door(data: bytes) -> None:
    """`/mcp`: likewise."""
    head, body = head_of(data)
    _answered(*ask("/mcp/mcp", head, body), {200, 202})


def documents_door(data: bytes) -> None:
    """GET of what is published: the first line is the query."""
    query, _, rest = data.partition(b"\n")
    head, _ = head_of(rest, "GET")
    head = msgspec.structs.replace(head, query=text_of(query.replace(b"\r", b"").replace(b"\0", b"")))
    _answered(*ask("/rpc/general", head, b""), {200, 304})


def _answered(status: int, content: bytes, kind: str, fine: set[int]) -> None:
    assert status in fine | STATUSES, f"{status}: {content[:200]!r}"
    if content and kind.startswith("application/json"):
        decode(content)


PARSERS: Final[Mapping[str, Check]] = {
    check.__name__: check
    for check in (
        json_text, rpc_envelope, queue_message, mcp_message, mirrored_value, accept_language, accept, trace_context,
        guarded_head, authority, forwarded_for, bearer, entity_tags, session_id, cursor, callback_url, beacon, page_call,
        page_token, page_query, dashboard_query, rpc_door, mcp_door, documents_door,
    )
}  # fmt: skip
