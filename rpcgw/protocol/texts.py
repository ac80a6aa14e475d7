"""What documents and lists ask of texts."""

from __future__ import annotations

from typing import Protocol

from rpcgw.kernel.method import Method


class Texts(Protocol):
    """Negotiated texts of methods (T-03 to T-06); "" where none exists anywhere."""

    def title(self, group: str, method: Method, locale: str) -> str:
        """What a method is called in a language."""

    def description(self, group: str, method: Method, locale: str) -> str:
        """What a method does, in a language."""

    def parameter(self, group: str, method: Method, name: str, locale: str) -> str:
        """What a catalogue says of a parameter; "" where none does, and the code's own words hold."""

    def result(self, group: str, method: Method, locale: str) -> str:
        """What a catalogue says of the result; "" where none does."""
