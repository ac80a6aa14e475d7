"""A lock by a parameter that a resolver turns into an object: named by the id, whatever was found."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import rpcgw as rpc
from rpcgw.testing import GatewayFactory


@dataclass
class Account:
    """What the resolver finds: never the same twice."""

    id: int
    seen: int


class Ledger:
    """Counts looks."""

    looks = 0


@rpc.resolver(Account, by=int)
async def find_account(number: int) -> Account:
    """An account that changes with each look."""
    Ledger.looks += 1
    return Account(number, Ledger.looks)


@rpc.procedure("Bank")
class Bank:
    """Takes a while for each payment."""

    @rpc.lock(by="account")
    async def pay(self, account: Account) -> int:
        """Pay from an account."""
        for _ in range(50):
            await asyncio.sleep(0)
        return account.id


PLUGIN = rpc.Plugin(procedures=[Bank], converters=[find_account])


def test_the_id_is_locked(rpcgw_gateway: GatewayFactory) -> None:
    """Two calls for one account meet, two for different ones do not, although each sees an object of its own."""
    gateway = rpcgw_gateway(PLUGIN)
    answers = gateway.batch(*[("Bank.pay", {"account": number}) for number in (1, 1, 2)])
    codes = [answer.message.get("error", {}).get("code", 0) for answer in answers]
    assert sorted(codes) == [-32400, 0, 0]
