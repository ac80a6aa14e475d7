"""A caller's identity, lent to a procedure as the operator says: its token, or tokens for others in its name."""

from __future__ import annotations

from functools import partial

import msgspec

from rpcgw.api.context import CallContext, Token
from rpcgw.api.errors import RuntimeFault
from rpcgw.api.records import record
from rpcgw.kernel.ports import SendError, TokenExchange


@record(frozen=True, slots=True)
class Identity:
    """What procedures of a group may do with callers' tokens: see them (`shown`), and have them exchanged.

    A token of the group's own, whose holder has no claims, is sent to no authorization server: it is none of its.
    """

    shown: bool = False
    exchange: TokenExchange | None = None

    def lent(self, context: CallContext, token: str | None) -> CallContext:
        """A context that lends what is allowed of a token."""
        if token is None:
            return context
        exchange = self.exchange if context.principal.claims else None
        exchanged = None if exchange is None else partial(_exchanged, exchange, token)
        return msgspec.structs.replace(context, token=Token(token) if self.shown else None, exchange=exchanged)


async def _exchanged(exchange: TokenExchange, token: str, audience: str, scopes: tuple[str, ...]) -> str:
    try:
        return await exchange.exchange(token, audience, scopes)
    except SendError as error:
        raise RuntimeFault(f"There is no token for {audience} in the name of this caller") from error
