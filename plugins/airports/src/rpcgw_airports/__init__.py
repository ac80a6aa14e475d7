"""The world's airports for agents: an example plugin of rpcgw on data of the package airportsdata."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import rpcgw as rpc
from rpcgw_airports.procedures import Airports
from rpcgw_airports.store import Store


@asynccontextmanager
async def open_store(environment: rpc.Environment) -> AsyncIterator[Store]:
    """Open the airports in the daemon's state directory; the first question of all fills the file."""
    store = Store(Path(environment.state_dir) / "airports.sqlite3")
    try:
        yield store
    finally:
        store.close()


plugin = rpc.Plugin(procedures=[Airports], lifespan=open_store, translations="texts")
