"""Takes pictures of the pages that the example serves, into `.cache/screenshots`: light, dark and narrow."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.support.browser import Browser, browser
from tests.support.console import called
from tests.support.daemon import example

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "screenshots"
WINDOWS = {"light": (1200, "light", "en"), "dark": (1200, "dark", "uk"), "narrow": (360, "light", "en")}


async def take(chromium: Browser, url: str, window: str) -> None:
    """Take the overview and a group's page with a method that was called."""
    width, scheme, language = WINDOWS[window]
    overview = await chromium.open(url + "/", width=width, scheme=scheme, language=language)
    (FOLDER / f"overview-{window}.png").write_bytes(await overview.picture())
    console = await chromium.open(f"{url}/console/internal", width=width, scheme=scheme, language=language)
    await called(console, values={"query": "le", "limit": "2"})
    (FOLDER / f"console-{window}.png").write_bytes(await console.picture())


async def main() -> None:
    """Serve the example and look at it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with example() as running:
        async with browser() as chromium:
            for window in WINDOWS:
                await take(chromium, running.url, window)
    for picture in sorted(FOLDER.glob("*.png")):
        print(picture.relative_to(Path.cwd()) if picture.is_relative_to(Path.cwd()) else picture)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
