"""The result cache as a plugin sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from rpcgw.api.marks import DEFAULT_GROUP


class ResultCache(ABC):
    """Makes and drops kept results by hand, for what changes without a call.

    A lifespan that has a parameter `cache`, and a procedure whose constructor has one of this type, are given it.
    """

    @abstractmethod
    async def warm(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        group: str = DEFAULT_GROUP,
        version: int = 1,
        locale: str = "en",
    ) -> None:
        """Make a result anew by calling the method, as a caller without a token would.

        While the worker is not open yet (in a lifespan, a constructor) it is made as soon as it is, and what goes wrong
        is logged.

        Args:
            method: A cached method: `Catalog.search`.
            params: Its parameters by name, as JSON values.
            group: Whose result: groups keep theirs apart.
            version: In which version.
            locale: In which language, where the result varies by it.

        Raises:
            LookupError: The group has no such method in this version, or its results are not kept.
            RpcError: The method fails.
        """

    @abstractmethod
    async def delete(self, method: str, params: Mapping[str, object] | None = None) -> None:
        """Drop the results of a method, in all groups and versions.

        With `params` only those that were kept for these values, where the names are exactly a set by which results can
        be dropped: those of `@rpc.cache(by=...)`, or of an `@rpc.invalidates(..., by=...)`. Of other sets everything is
        dropped: too much rather than too little.

        Raises:
            LookupError: No cached method is so called, or it has no such parameter.
        """
