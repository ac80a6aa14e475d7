"""Problems: what a person must mend before rpcgw serves, with the place. Pure values."""

from __future__ import annotations

from typing import Literal

from rpcgw.api.records import record

Level = Literal["error", "warning", "note"]
"""What keeps the daemon from starting; what deserves a second look; what is good to know."""


@record(frozen=True, slots=True, order=True)
class Place:
    """Where something stands: a file as the user names it, line and column from 1 (0 where unknown)."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)])


@record(frozen=True, slots=True, order=True)
class Problem:
    """One mistake: where, what (`text`), a stable `code` to look up in the reference, and what to do (`hint`)."""

    place: Place
    code: str
    text: str
    hint: str = ""
    level: Level = "error"

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.place}: {self.level}[{self.code}] {self.text}{hint}"


def errors(problems: list[Problem]) -> list[Problem]:
    """The problems that keep the daemon from starting."""
    return [problem for problem in problems if problem.level == "error"]
