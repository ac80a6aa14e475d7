"""An agent's hint is cleaned twice, in the page and in the daemon: by two programs in two languages, to the same text."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from collections.abc import Sequence
from random import Random

from rpcgw.protocol.webmcp.agents import cleaned
from tests.support.daemon import ROOT

NODE = ROOT / ".cache" / "bin" / "node"
SCRIPT = (ROOT / "rpcgw" / "pages" / "static" / "webmcp.js").read_text("utf-8")
PROGRAM = """
const AGENTS = /(?!)/, navigator = { userAgent: "" };
CLIENT_OF
const hints = JSON.parse(require("fs").readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(hints.map((hint) => clientOf(hint))));
"""
KNOWN = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in {"Cn", "Cs"}]
"""Every character that this Python knows; a newer one may be a letter to one of the two and nothing to the other."""


def in_the_page(hints: Sequence[str]) -> list[str]:
    """What the page's script makes of hints."""
    function = re.search(r"const clientOf = .*?\n  \};\n", SCRIPT, re.DOTALL)
    assert function is not None, "webmcp.js has no clientOf"
    program = PROGRAM.replace("CLIENT_OF", function[0])
    sent = json.dumps(hints)
    done = subprocess.run([NODE, "-e", program], input=sent, capture_output=True, text=True, check=True)
    made: list[str] = json.loads(done.stdout)
    return made


def test_every_character() -> None:
    """Each character stays or becomes a space, on both sides the same."""
    hints = [f"a{sign}b" for sign in KNOWN]
    found = in_the_page(hints)
    assert [hint for hint, page in zip(hints, found, strict=True) if page != cleaned(hint)] == []


def test_any_text() -> None:
    """Spaces, ends and the cut at 64 characters come out the same, whatever stands around them."""
    random = Random(1)
    signs = [*" \t\n._-/()<>&😀їé中\u202e\u200b", "  ", "Claude"]
    hints = ["".join(random.choices(signs, k=random.randrange(100))) for _ in range(3000)]
    assert in_the_page(hints) == [cleaned(hint) for hint in hints]
