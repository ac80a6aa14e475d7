"""The site's contents, and the procedure behind one of its tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rpcgw_site import plugin
from rpcgw_site.words import ROOTS, WORDS

from rpcgw.testing import PluginGateway, open_gateway

PAGES = {path: text for path, text in plugin.pages.items() if isinstance(text, str)}


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PluginGateway]:
    with open_gateway("rpcgw_site", tmp_path_factory.mktemp("state")) as gateway:
        yield gateway


PRICES = [
    pytest.param({"service": "wheel"}, {"service": "wheel", "total": 600, "days": 1}, id="one bicycle"),
    pytest.param({"service": "wheel", "bicycles": 3}, {"service": "wheel", "total": 1560, "days": 2}, id="three"),
]


@pytest.mark.parametrize(("arguments", "price"), PRICES)
def test_what_it_costs(site: PluginGateway, arguments: dict[str, Any], price: dict[str, Any]) -> None:
    """Each further bicycle costs less than the first."""
    assert site.call("Workshop.price", arguments).result == price


def test_both_languages_say_everything() -> None:
    """No word is missing in one of them."""
    uk, en = WORDS["uk"], WORDS["en"]
    for name in ("sections", "services", "form", "tools"):
        assert getattr(uk, name).keys() == getattr(en, name).keys()


@pytest.mark.parametrize("root", ROOTS.values())
def test_the_index_leads_to_pages(root: str) -> None:
    """A few dozen articles, each with an address that is served."""
    index = json.loads(PAGES[f"{root}blog/index.json"])
    assert len(index) == 36
    assert {entry["url"] for entry in index} <= PAGES.keys()


def test_every_link_leads_somewhere() -> None:
    """Links, forms and files of all pages are pages of the site, or the gateway's script."""
    found = {
        target
        for text in PAGES.values()
        if text.startswith("<!doctype")
        for target in re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
    }
    assert {target for target in found if not target.startswith("/webmcp/")} <= PAGES.keys()
    assert not any(path for path in PAGES if not Path(path).is_absolute())
