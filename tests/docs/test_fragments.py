"""Blocks of the documents that are part of a file: a configuration is one that is taken, an example does what it says."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import TypeAdapter

import rpcgw as rpc
from rpcgw.testing import GatewayFactory
from tests.docs.test_blocks import GREETINGS, PAGES, ROUTES, Block, blocks, named, run
from tests.support.certificates import FIRST
from tests.support.clients import FETCHED
from tests.support.daemon import ROOT

API = ROOT / "docs/reference/api.md"
OPEN = "ufo_json_rpc: {security: {protected_api: false}}\nserver: {allow_unprotected: true}\n"
CLOSED = f"""
ufo_json_rpc: {{security: {{protected_api: true}}}}
groups: {{general: {{tokens: [{{name: ada, sha256: "{"0" * 64}"}}]}}}}
"""
SECRETS = {"OAUTH_SECRET": "s3cret"}
CERTIFICATE = {"/etc/rpcgw/tls/chain.pem": FIRST.cert, "/etc/rpcgw/tls/key.pem": FIRST.key}
NOT_OURS = {"scrape_configs"}
"""Settings of Prometheus, which nothing here reads."""


def parts(kind: str, page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.kind == kind and not block.file]


SETTINGS = [
    pytest.param(block, id=f"{named(page)}, {next(iter(yaml.safe_load(block.text)))}, {number}")
    for page in PAGES
    for number, block in enumerate(parts("yaml", page), 1)
    if not NOT_OURS & set(yaml.safe_load(block.text))
]


@pytest.mark.parametrize("block", SETTINGS)
def test_settings_are_taken(block: Block, tmp_path: Path) -> None:
    """Beside what a gateway has anyway, which is closed where tokens are spoken of, `rpcgw check` has no problem."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/hello.py").write_text(GREETINGS, "utf-8")
    (tmp_path / "routes.yaml").write_text(ROUTES, "utf-8")
    text = block.text
    for written, here in CERTIFICATE.items():
        text = text.replace(written, str(here))
    (tmp_path / "page.yaml").write_text(text, "utf-8")
    base = CLOSED if "oauth:" in text else OPEN
    (tmp_path / "gateway.yaml").write_text(f"imports: [page.yaml]\n{base}", "utf-8")
    run(["check"], tmp_path, SECRETS)


# -- examples


EXAMPLES = {
    ("README.md", "from typing import Annotated"): "tests/e2e/test_first_minutes.py has it from `rpcgw init`",
    ("docs/howto/fastmcp.md", "from fastmcp import Context, FastMCP"): "",
    ("docs/howto/tracing.md", "from opentelemetry import trace"): "",
    ("docs/reference/api.md", "rpc.Converter(Money, wire=str, load=Money.parse, dump=str)"): "",
    ("docs/reference/api.md", 'due: Annotated[date, rpc.DateFormat("%d.%m.%Y")]'): "",
    ("docs/reference/api.md", "@rpc.resolver(User, by=int)"): "",
    ("docs/reference/api.md", "def test_greeting(rpcgw_gateway: GatewayFactory) -> None:"): "",
    ("docs/reference/commands.md", "# yaml-language-server: $schema=<path or URL>"): "a comment",
}
"""Parts of files in Python, by their first line, and why one is not run below."""


def test_no_example_is_left_out() -> None:
    """Each is in the table, and nothing else is."""
    found = [(named(page), block.text.splitlines()[0]) for page in PAGES for block in parts("python", page)]
    assert sorted(found) == sorted(EXAMPLES)


def example(page: Path, beginning: str) -> str:
    """The one part of a page that begins so."""
    [text] = [block.text for block in parts("python", page) if block.text.startswith(beginning)]
    return text


@dataclass
class Money:
    """What the examples of the reference speak of, with `User` and `Store`."""

    cents: int

    @classmethod
    def parse(cls, text: str) -> Money:
        return cls(round(float(text) * 100))

    def __str__(self) -> str:
        return f"{self.cents / 100:.2f}"


@dataclass
class User:
    id: int


class Store:
    """Users."""


KNOWN = {"rpc": rpc, "Annotated": Annotated, "date": date, "datetime": datetime, "GatewayFactory": GatewayFactory}
KNOWN |= {"Money": Money, "User": User, "Store": Store}


def done(text: str) -> dict[str, Any]:
    """What a piece of code has defined."""
    names = dict(KNOWN)
    exec(compile(text, "an example", "exec"), names)
    return names


def test_a_converter_converts() -> None:
    """That of the reference is a value that a plugin can bring, and goes both ways."""
    converter = eval(example(API, "rpc.Converter("), dict(KNOWN))
    assert isinstance(converter, rpc.Converter)
    assert converter.dump(converter.load("1.50")) == "1.50"


def test_formats_of_dates_are_read() -> None:
    """Those of the reference take what they are made for."""
    due, at = done(example(API, "due: "))["__annotations__"].values()
    assert TypeAdapter(due).validate_python("24.08.2026") == date(2026, 8, 24)
    assert TypeAdapter(at).validate_python("2026-08-24 10:00").utcoffset() is not None


def test_a_resolver_is_one() -> None:
    """That of the reference is what a plugin's `converters` take."""
    found = done(example(API, "@rpc.resolver("))["find_user"]
    rpc.Plugin(converters=[found])


def test_the_references_test_passes(tmp_path: Path) -> None:
    """It is a test of a plugin that says hello."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/my_plugin.py").write_text(GREETINGS, "utf-8")
    code = example(API, "def test_greeting(")
    (tmp_path / "test_it.py").write_text(f"from rpcgw.testing import GatewayFactory\n\n\n{code}", "utf-8")
    said = python(sys.executable, "-m pytest -q -p no:cacheprovider -o pythonpath=plugins", tmp_path)
    assert "1 passed" in said


def test_a_span_of_ones_own_goes_round_the_work() -> None:
    """That of the page on tracing needs nothing but the API."""
    prices = done(example(ROOT / "docs/howto/tracing.md", "from opentelemetry"))["prices"]
    assert asyncio.run(prices()) == [1, 2, 3]


def test_what_moves_from_fastmcp_is_fastmcps(tmp_path: Path) -> None:
    """The server to begin with runs there, and its tool says what ours says by the page's own line."""
    page = ROOT / "docs/howto/fastmcp.md"
    asked = """
import asyncio, json, sys
from fastmcp import Client


async def main():
    async with Client(mcp) as client:
        found = await client.call_tool("count", {"text": sys.argv[1]})
        print(json.dumps(found.data))


asyncio.run(main())
"""
    (tmp_path / "server.py").write_text(example(page, "from fastmcp") + asked, "utf-8")
    [line] = [line for block in blocks(page) for line in block.commands if line.startswith("rpcgw tools call Words")]
    found = re.search(r'text="([^"]*)"', line)
    assert found is not None
    said = python(FETCHED / "clients/fastmcp3/bin/python", f"server.py {shlex.quote(found[1])}", tmp_path)
    assert json.loads(said) == len(found[1].split())


def python(program: str | Path, line: str, place: Path) -> str:
    """What a Python prints, which ends well."""
    command = [str(program), *shlex.split(line)]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
