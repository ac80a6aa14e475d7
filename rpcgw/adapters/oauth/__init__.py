"""Tokens that authorization servers issue, checked with joserfc; nothing of it is imported where none are taken."""

from __future__ import annotations

from typing import Final

ANSWER_WITHIN: Final = 5.0
"""Seconds that an authorization server has: a caller waits for it."""
