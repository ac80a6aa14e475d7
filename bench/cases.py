"""What is measured: servers and calls by name."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import gateways
from bench.asking import Asker, ask
from bench.calls import (
    GZIP,
    OUT_OF_RANGE,
    PRICE,
    REDUCED,
    WRONG_TYPE,
    Call,
    document,
    initialize,
    items,
    refusal,
    rpc,
    rpc_batch,
    tool,
    tool_of_session_era,
    tools,
    unchanged,
)
from bench.machine import CLIENTS, CORES, NODE, PEERS, ROOT
from bench.measuring import Case, Prepare, by_nothing
from bench.servers import Program, Running, Server, peer, running, server

SMALL: Final = "Catalog.discounted"
OFFER: Final = "Offers.discounted"
FLOOR_SCRIPT: Final = ROOT / "bench" / "peers" / "floor.py"
FLOOR: Final = Case(
    "bare aiohttp", peer("bare aiohttp", "floor.py", Path(sys.executable)), tool("discounted", PRICE, REDUCED)
)

SESSIONS: Final = 2000
MANY: Final = (10, 1000, 10_000)
PAGE: Final = 100
LARGEST_PAGE: Final = 1000


def _price(name: str) -> Call:
    return tool(name, PRICE, REDUCED)


def _search(name: str, count: int) -> Call:
    return tool(name, {"query": "product", "limit": count}, items(count))


def _session_price(name: str) -> Call:
    return tool_of_session_era(name, PRICE, REDUCED)


# -- how a session is prepared


def in_session(running: Running) -> Mapping[str, str]:
    """Begin a session, at the second daemon where there is one, and name it in each call."""
    answer = ask(running.elsewhere or running.port, initialize())
    return {"Mcp-Session-Id": answer.header("Mcp-Session-Id") or ""}


def among_sessions(running: Running) -> Mapping[str, str]:
    """The same, after many others were begun."""
    with Asker(running.port) as asker:
        for _ in range(SESSIONS):
            asker.ask(initialize())
    return in_session(running)


def known(running: Running) -> Mapping[str, str]:
    """Get the document once, and say that it is known."""
    answer = ask(running.port, document().asked)
    return {"If-None-Match": answer.header("ETag") or ""}


# -- two daemons on one Redis


@contextmanager
def two_on_redis() -> Iterator[Running]:
    """A Redis beside the load, and two daemons that keep sessions in it; the first one is measured."""
    program = Program(
        ("redis-server", "--port", "{port}", "--save", "", "--appendonly", "no"), cores=frozenset({CORES.load})
    )
    with running(program) as redis:
        shared = {
            "pools": {"shared": f"redis://127.0.0.1:{redis.port}/0"},
            "ufo_json_rpc": {"cache": {"pool": "shared"}},
        }
        both = gateways.offers(shared)
        with running(both) as other, running(both, elsewhere=other.port) as measured:
            yield measured


def _no_redis() -> str:
    return "" if shutil.which("redis-server") else "there is no redis-server on the PATH"


# -- the daemon


def _ours(name: str, program: Program, call: Call, *, connections: int = 16, prepare: Prepare = by_nothing) -> Case:
    return Case(name, server(name, program), call, connections, prepare)


def _many_tools() -> Iterator[Case]:
    """Calls and lists, by how many tools there are."""
    for count in MANY:
        full = min(count, LARGEST_PAGE)
        program = gateways.many(count)
        yield _ours(f"call at {count:,} tools", program, _price(OFFER))
        paged = gateways.many(count, {"defaults": {"tools": {"page_size": PAGE}}})
        yield _ours(f"tools/list, a page of {count:,}", paged, tools(min(count, PAGE)))
        yield _ours(f"tools/list, gzip, {count:,}", program, tools(full).sent_with(GZIP))
        yield _ours(f"document, 304, {count:,}", program, unchanged(), prepare=known)


OURS: Final = (
    _ours("small call", gateways.shipped(), _price(SMALL)),
    _ours("small call, 1 connection", gateways.shipped(), _price(SMALL), connections=1),
    _ours("small call, 64 connections", gateways.shipped(), _price(SMALL), connections=64),
    _ours("10 objects", gateways.offers(), _search("Offers.search", 10)),
    _ours("100 objects", gateways.offers(), _search("Offers.search", 100)),
    _ours("a wrong type", gateways.shipped(), tool(SMALL, WRONG_TYPE, wanted=True, meaning=refusal, status=400)),
    _ours("out of range", gateways.shipped(), tool(SMALL, OUT_OF_RANGE, wanted=True, meaning=refusal)),
    _ours("unknown tool", gateways.shipped(), tool("Catalog.nothing", {}, wanted=True, meaning=refusal, status=400)),
    _ours("sync, in a thread", gateways.offers(), _price("Offers.in_a_thread")),
    _ours("sync, inline", gateways.offers(), _price("Offers.inline")),
    _ours("session call, file pool", gateways.shipped(), _session_price(SMALL), prepare=in_session),
    _ours("session call, 2,000 sessions", gateways.shipped(), _session_price(SMALL), prepare=among_sessions),
    Case(
        "session call, Redis, two daemons",
        Server("two daemons", two_on_redis, _no_redis),
        _session_price(OFFER),
        prepare=in_session,
    ),
    _ours("JSON-RPC call", gateways.offers(), rpc(OFFER, PRICE, REDUCED)),
    _ours("JSON-RPC batch of 20", gateways.offers(), rpc_batch(OFFER, PRICE, REDUCED, 20)),
    _ours("aiohttp door alone", gateways.offers({"http": {"fast_front": False}}), _price(OFFER)),
    _ours("call at 50 groups", gateways.wide(50, 4), _price(OFFER)),
    *_many_tools(),
)

# -- the others


def _in(folder: str, script: str) -> Program:
    return Program((str(PEERS / folder / "bin" / "python"), str(ROOT / "bench" / "peers" / script), "{port}"))


def _bolt() -> Program:
    project = ROOT / "bench" / "peers" / "bolt"
    command = (str(PEERS / "bolt" / "bin" / "python"), str(project / "manage.py"), "runbolt", "--host", "127.0.0.1")
    return Program((*command, "--port", "{port}", "--processes", "1"))


def _typescript() -> Program:
    modules = ROOT / ".cache" / "node"
    return Program((str(NODE), str(ROOT / "bench" / "peers" / "typescript.mjs"), "{port}", str(modules)))


SDK1 = peer("mcp 1.x", "sdk1.py", CLIENTS / "mcp1" / "bin" / "python")
SDK2 = peer("mcp 2.x", "sdk2.py", CLIENTS / "mcp2" / "bin" / "python")
FASTMCP = server("FastMCP", _in("fastmcp", "fastmcp_http.py"))
BOLT = server("bolt-mcp", _bolt())

OTHERS: Final = (
    Case("mcp 1.x stateless", SDK1, _session_price("discounted")),
    Case("mcp 2.x stateless", SDK2, _session_price("discounted")),
    Case("mcp 2.x 2026-07-28", SDK2, _price("discounted")),
    Case("FastMCP 4 stateless", FASTMCP, _session_price("discounted")),
    Case("bolt-mcp", BOLT, _session_price("discounted")),
    Case("bolt-mcp, 10 objects", BOLT, tool_of_session_era("search", {"query": "product", "limit": 10}, items(10))),
    Case("bolt-mcp, 100 objects", BOLT, tool_of_session_era("search", {"query": "product", "limit": 100}, items(100))),
    Case("robyn", server("robyn", _in("robyn", "robyn_mcp.py")), _session_price("discounted")),
    Case("TypeScript SDK 1.x stateless", server("TypeScript SDK", _typescript()), _session_price("discounted")),
    Case("pjrpc", server("pjrpc", _in("pjrpc", "pjrpc_aiohttp.py")), rpc(OFFER, PRICE, REDUCED)),
)

CASES: Final = (*OURS, *OTHERS)
SHOWN: Final = {
    "rpcgw": "small call",
    "rpcgw, JSON-RPC": "JSON-RPC call",
    "rpcgw, aiohttp door alone": "aiohttp door alone",
    **{case.name: case.name for case in OTHERS if "objects" not in case.name},
}
"""The cases of the plot by their labels there: one small call each."""
