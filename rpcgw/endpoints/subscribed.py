"""One worker's open streams of `subscriptions/listen`: how many a caller may have, what they hear, how they end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rpcgw.api.records import record

MOST: Final = 16
"""How many streams one caller may have open in a worker: a token's holder, or the address of somebody without one."""


@record(eq=False)
class Subscription:
    """One open stream.

    `news` is set when there is something to say: `changed`, that the tools are others, and `over`, its last words.
    """

    endpoint: str
    group: str
    news: asyncio.Event = field(default_factory=asyncio.Event)
    changed: bool = False
    over: bool = False

    def change(self) -> None:
        """Let it say that the tools are others now."""
        self.changed = True
        self.news.set()

    def end(self, *, changed: bool) -> None:
        """Let it say its last words."""
        self.changed, self.over = self.changed or changed, True
        self.news.set()


@dataclass
class Subscriptions:
    """One worker's open streams. `tools` tells by endpoint's name what its tools are, as a text that is compared."""

    tools: Mapping[str, str] = field(default_factory=dict)
    most: int = MOST
    _open: set[Subscription] = field(default_factory=set)
    _owners: Counter[str] = field(default_factory=Counter)
    _over: bool = False
    _afterwards: Mapping[str, str] | None = None

    def enter(self, owner: str, subscription: Subscription) -> bool:
        """Take one in; False where its owner has too many. In a worker that drains it ends at once, as others did."""
        if self._owners[owner] >= self.most:
            return False
        self._owners[owner] += 1
        self._open.add(subscription)
        if self._over:
            self._end(subscription)
        return True

    def leave(self, owner: str, subscription: Subscription) -> None:
        """It is closed."""
        self._open.discard(subscription)
        self._owners[owner] -= 1
        if not self._owners[owner]:
            del self._owners[owner]

    def changed(self, group: str) -> None:
        """Tell those who listen to a group that its tools are others now."""
        for each in self._open:
            if each.group == group:
                each.change()

    def end(self, tools: Mapping[str, str] | None = None) -> None:
        """End all; `tools` are those of the workers that serve from now on, None where nobody does."""
        self._over, self._afterwards = True, tools
        for each in self._open:
            self._end(each)

    def _end(self, subscription: Subscription) -> None:
        known, tools = subscription.endpoint, self._afterwards
        subscription.end(changed=tools is not None and tools.get(known) != self.tools.get(known))
