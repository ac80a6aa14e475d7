"""The console's page as a visitor uses it: a method opened, its form filled in, called, and what is said read."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.support.browser import Page

SEARCH = "Catalog.search"


def _at(method: str, selector: str) -> str:
    return f"document.getElementById({json.dumps(method)}).querySelector({json.dumps(selector)})"


async def fill(page: Page, method: str, values: Mapping[str, str]) -> None:
    """Open a method, and put text into the fields of its form."""
    await page.value(f"document.getElementById({json.dumps(method)}).open = true")
    for name, text in values.items():
        field = _at(method, f'[data-name="{name}"] :is(input[type=text], textarea, select)')
        await page.value(
            f"{{const f={field}; f.value={json.dumps(text)}; f.dispatchEvent(new Event('input',{{bubbles:true}}));}}"
        )


async def called(page: Page, method: str = SEARCH, values: Mapping[str, str] | None = None, over: str = "rpc") -> str:
    """Call a method over `rpc` or `mcp` by the page's button, and return what the page says of it."""
    await fill(page, method, values or {})
    await page.value(_at(method, f"input[name=surface][value={over}]") + "?.click()")
    await page.value(_at(method, "button[type=submit]") + ".click()")
    await page.until(_at(method, "button[type=submit]") + ".getAttribute('aria-busy') === null")
    return str(await page.value(_at(method, ".outcome") + ".innerText"))


async def text(page: Page, method: str, selector: str) -> str:
    """Return the text of a part of a method."""
    return str(await page.value(_at(method, selector) + ".textContent"))
