"""A product catalogue for agents and for the intranet: the example plugin of rpcgw."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

import rpcgw as rpc
from rpcgw_catalog.procedures import Admin, Catalog, CatalogV2
from rpcgw_catalog.store import Store


@dataclass(frozen=True)
class Settings:
    """What `plugins.config.catalog` may say: how many products the generator makes, and from which seed."""

    products: Annotated[int, Ge(1)] = 5000
    seed: int = 7


@asynccontextmanager
async def open_store(settings: Settings, environment: rpc.Environment) -> AsyncIterator[Store]:
    """Open the catalogue in the daemon's state directory; the first worker of all fills it."""
    store = Store(Path(environment.state_dir) / "catalog.sqlite3")
    store.prepare(products=settings.products, seed=settings.seed)
    try:
        yield store
    finally:
        store.close()


plugin = rpc.Plugin(
    procedures=[Catalog, CatalogV2, Admin],
    lifespan=open_store,
    settings=Settings,
    translations="texts",
)
