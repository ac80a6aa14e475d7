"""Notes what goes over the wire, for docs/acceptance.md: a client that records its exchanges with pytest.

    def test_something(wire: Wire) -> None:
        \"\"\"A-MCP-07: the promise.\"\"\"
        assert wire.get("/mcp").status == 405

A test whose daemon is shared, or is spoken to by others' functions, has it overheard instead:

    @pytest.fixture(autouse=True)
    def noted(served: Daemon, record_property: Note) -> Iterator[None]:
        with noting(record_property, served):
            yield

What differs from run to run is replaced by words, so that the document changes only when the product does.
"""

from __future__ import annotations

import contextlib
import http.client
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tests.support.http import Answer, Client, Heard

LONGEST = 700
BORING = {"content-length", "server", "date", "connection"}
EVERYWHERE = {"content-type: application/json"}
TOLD = {
    "allow", "access-control-allow-origin", "access-control-allow-methods", "access-control-allow-headers",
    "access-control-expose-headers", "content-type", "content-language", "mcp-session-id", "vary", "www-authenticate",
    "x-accel-buffering",
}  # fmt: skip
"""Headers of answers that are shown."""
SETS = {"access-control-allow-headers", "access-control-expose-headers"}
"""Headers of answers whose parts come in any order."""
UNTOLD = {"/metrics"}
"""What has other numbers in it each time."""
WORDS = (
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"(localhost|127\.0\.0\.1|\[::1\]):\d{4,5}\b"), r"\1:8080"),
    (re.compile(r"/tmp/[\w./-]*?/(?=plugins|gateway)"), ""),
)

Note = Callable[[str, object], None]
Words = Sequence[tuple[re.Pattern[str], str]]


class Wire(Client):
    """A `Client` that notes each exchange. `note` is pytest's `record_property`."""

    def __init__(self, url: str, note: Note) -> None:
        super().__init__(url)
        self._note = note
        self.heard = heard_by(note)

    def send(self, data: bytes) -> Answer:
        """Send a raw request on a connection of its own, byte for byte."""
        answer = send(self, data)
        head, _, content = data.partition(b"\r\n\r\n")
        first, *fields = head.decode("utf-8", "backslashreplace").split("\r\n")
        pairs = [(name, value.strip()) for name, _, value in (field.partition(":") for field in fields)]
        self._note("exchange", noted(first.removesuffix(" HTTP/1.1"), pairs, content, answer))
        return answer


@contextlib.contextmanager
def noting(note: Note, *clients: Client, words: Words = ()) -> Iterator[None]:
    """Note what clients send until the block ends; `words` stand for what else differs from run to run."""
    for client in clients:
        client.heard = heard_by(note, words)
    try:
        yield
    finally:
        for client in clients:
            client.heard = None


def heard_by(note: Note, words: Words = ()) -> Heard:
    """Return what notes each request of a client."""

    def heard(method: str, path: str, body: bytes, headers: Mapping[str, str], answer: Answer) -> None:
        if path not in UNTOLD:
            note("exchange", noted(f"{method} {path}", headers.items(), body, answer, words))

    return heard


def noted(
    first: str, headers: Iterable[tuple[str, str]], content: bytes, answer: Answer, words: Words = ()
) -> dict[str, object]:
    """Return an exchange as the document shows it."""
    fields = [f"{name}: {value}" for name, value in headers if name.lower() not in BORING]
    request = [first, *(field for field in fields if field.lower() not in EVERYWHERE | {"host: localhost"})]
    told = [f"{name}: {in_order(name, value)}" for name, value in answer.headers if name.lower() in TOLD]
    lines = [field for field in told if field.lower() not in EVERYWHERE]
    return {
        "request": legible([*request, *shortened(content, words)], words),
        "status": answer.status,
        "answer": legible([*lines, *shortened(answer.body, words)], words),
    }


def in_order(name: str, value: str) -> str:
    """Return a header's value; what has no order of its own is sorted."""
    return ",".join(sorted(value.split(","))) if name.lower() in SETS else value


def run_noted(note: Note, command: str, code: int | None, said: str) -> None:
    """Note a command instead of a request: what was run, how it ended, what it said."""
    note("exchange", {"request": legible([command]), "status": f"exit {code}", "answer": legible([said.strip()])})


def send(client: Client, data: bytes, *, pieces: int = 0) -> Answer:
    """Send a raw request on a connection of its own, in pieces of so many bytes where asked for."""
    with client.socket() as connection:
        for start in range(0, len(data), pieces or len(data)):
            connection.sendall(data[start : start + (pieces or len(data))])
        response = http.client.HTTPResponse(connection, method=data.partition(b" ")[0].decode())
        response.begin()
        with response:
            return Answer(response.status, tuple(response.getheaders()), response.read())


def shortened(content: bytes, words: Words = ()) -> list[str]:
    """Return a body as text, the middle of a long one left out; nothing where there is none."""
    text = legible([content.decode("utf-8", "backslashreplace")], words)
    text = "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text)
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]} ... {len(text) - LONGEST} characters ... {text[-half:]}"
    return [text] if text else []


def legible(lines: Sequence[str], words: Words = ()) -> str:
    """Return lines as one text in which nothing differs from run to run."""
    text = "\n".join(lines)
    for pattern, word in (*words, *WORDS):
        text = pattern.sub(word, text)
    return text.replace("```", "'''")
