"""The generated pages are as the code wants them, and leave nothing out."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest

import rpcgw
from rpcgw.adapters.telemetry.families import FAMILIES
from rpcgw.api.events import EVENT_NAMES
from rpcgw.cli.commands import COMMANDS
from rpcgw.config.codes import CODES
from scripts import problem_codes, reference

DOCUMENTED = {
    "settings.md": [setting.path for setting in reference.settings("gateway")],
    "routes.md": [setting.path for name in ("routes", "translations") for setting in reference.settings(name)],
    "problems.md": [*problem_codes.ALL, *(code for code, _ in problem_codes.named())],
    "metrics.md": list(FAMILIES),
    "events.md": list(EVENT_NAMES.values()),
}
PUBLIC = [name for names in rpcgw._HOMES.values() for name in names]


def page(name: str) -> str:
    return (reference.PAGES / name).read_text("utf-8")


@pytest.mark.parametrize("name", reference.PAGES_BY_NAME)
def test_a_page_is_as_the_code_wants_it(name: str) -> None:
    """Whoever changes the code writes the pages anew: make reference."""
    assert page(name) == reference.pages()[name], "stale: make reference"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_nothing_is_left_out(name: str) -> None:
    """Every setting, problem code, metric and event stands on its page."""
    text = page(name)
    assert [what for what in DOCUMENTED[name] if f"`{what}`" not in text] == []


def test_every_command_is_documented() -> None:
    """Every command of rpcgw has a section."""
    lines = page("commands.md").splitlines()
    assert [name for name in COMMANDS if f"## rpcgw {name}" not in lines] == []


def test_every_public_name_is_documented() -> None:
    """Every name that a plugin may import has a section, and a docstring of its own to fill it."""
    lines = page("api.md").splitlines()
    assert [name for name in PUBLIC if f"### rpc.{name}" not in lines] == []
    assert [name for name in PUBLIC if not inspect.cleandoc(getattr(rpcgw, name).__doc__ or "")] == []


def test_every_setting_says_what_it_is() -> None:
    """No setting is listed without a sentence."""
    assert [s.path for s in reference.settings("gateway") if not s.text] == []


def test_no_code_means_two_things() -> None:
    """A problem code stands in one table only."""
    tables = (CODES, problem_codes.PLUGINS, problem_codes.TOOLS, problem_codes.CLIENTS)
    counted = Counter(code for table in tables for code in table)
    assert [code for code, times in counted.items() if times > 1] == []


def test_no_code_is_explained_that_nothing_reports() -> None:
    """What the tables of plugins explain, the source reports."""
    reported = {code for code, _ in problem_codes.named()}
    source = "".join(path.read_text("utf-8") for path in (problem_codes.ROOT / "rpcgw").rglob("*.py"))
    assert [code for code in problem_codes.PLUGINS if code not in reported and f'"{code}"' not in source] == []
