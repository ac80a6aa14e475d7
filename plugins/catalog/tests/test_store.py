"""The catalogue's store: a real SQLite file in a temporary directory."""

import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from rpcgw_catalog.generator import generate
from rpcgw_catalog.products import Category, NewProduct
from rpcgw_catalog.store import DuplicateSkuError, Store, full_text


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "catalog.sqlite3")
    store.prepare(products=400, seed=7)
    yield store
    store.close()


def kettle(sku: str = "KIT-KETTLE") -> NewProduct:
    return NewProduct(sku, "Zephyr Whistling Kettle", Category.KITCHEN, Decimal("24.90"), 3, ("tea",))


def test_a_seed_is_a_catalogue() -> None:
    """The same seed gives the same products; SKUs are unique."""
    first, second = list(generate(300, 7)), list(generate(300, 7))
    assert first == second
    assert len({product.sku for product in first}) == 300


def test_search_takes_beginnings(store: Store) -> None:
    """Each word of a query may be the beginning of a word."""
    added = store.add(kettle())
    assert store.search("zeph kett", 5).products == [added]


def test_search_on_one_shelf(store: Store) -> None:
    """A category leaves out what stands elsewhere, and the total counts what is left."""
    page = store.search("gift", 3, Category.BOOKS)
    assert {product.category for product in page.products} == {Category.BOOKS}
    assert page.total > 3


def test_pages_do_not_overlap(store: Store) -> None:
    """Pages follow each other in one order."""
    first, second = store.search("gift", 5), store.search("gift", 5, offset=5)
    assert not {p.id for p in first.products} & {p.id for p in second.products}


@pytest.mark.parametrize("query", ['"', "NEAR(", "name: x", "* OR 1", "-", "   "])
def test_a_query_is_no_syntax(store: Store, query: str) -> None:
    """Whatever is typed, the full-text engine sees words only."""
    store.search(query, 5)


def test_full_text_of_words() -> None:
    """A query becomes quoted beginnings."""
    assert full_text('watering "can"') == '"watering"* "can"*'


def test_rename_is_found_under_the_new_name(store: Store) -> None:
    """A new name replaces the old one in the index too."""
    store.rename(1, "Qwertz Lamp", by="test")
    assert [product.id for product in store.search("qwertz", 5).products] == [1]


def test_rename_of_nothing(store: Store) -> None:
    """A product that is not there cannot be renamed."""
    assert store.rename(10**30, "x", by="test") is None


def test_sku_is_unique(store: Store) -> None:
    """A second product with one SKU is refused."""
    store.add(kettle())
    with pytest.raises(DuplicateSkuError):
        store.add(kettle())


def test_prices_are_exact(store: Store) -> None:
    """Euros come back as they were given."""
    changed = store.set_price(1, Decimal("19.99"))
    assert changed is not None
    assert changed.price == Decimal("19.99")


def test_shelves_count_everything(store: Store) -> None:
    """The shelves together hold all products."""
    assert sum(shelf.products for shelf in store.shelves()) == 400


def test_threads_share_the_file(store: Store) -> None:
    """Another thread sees what this one wrote, through a connection of its own."""
    added = store.add(kettle())
    seen = []
    thread = threading.Thread(target=lambda: seen.append(store.get(added.id)))
    thread.start()
    thread.join()
    assert seen == [added]
