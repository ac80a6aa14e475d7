"""The catalogue as its callers see it: compiled in this process, asked over rpc and MCP."""

from decimal import Decimal

import pytest
import rpcgw_catalog
from rpcgw_catalog.products import Category, NewProduct

from rpcgw.testing import GatewayFactory, PluginGateway

KETTLE = NewProduct(sku="KIT-KETTLE", name="Zephyr Kettle", category=Category.KITCHEN, price=Decimal("24.90"))


@pytest.fixture(name="catalog")
def _catalog(rpcgw_gateway: GatewayFactory) -> PluginGateway:
    return rpcgw_gateway(rpcgw_catalog, config={"products": 200, "seed": 7})


def test_both_protocols_find_the_same(catalog: PluginGateway) -> None:
    """A search gives the same products over rpc and over MCP, sessions included."""
    query = {"query": "gift", "limit": 3}
    found = catalog.call("Catalog.search", query).result
    assert len(found) == 3
    assert catalog.tool("Catalog.search", query).result == found
    assert catalog.tool("Catalog.search", query, era="session").result == found


def test_a_shelf_narrows_the_search(catalog: PluginGateway) -> None:
    """A category leaves only what stands on that shelf."""
    found = catalog.tool("Catalog.search", {"query": "gift", "category": Category.BOOKS}).result
    assert {product["category"] for product in found} == {"books"}


def test_get_shows_one_product(catalog: PluginGateway) -> None:
    """A product comes with its exact price as a text."""
    product = catalog.call("Catalog.get", {"id": 1}).result
    assert product["id"] == 1
    assert product["price"] == f"{float(product['price']):.2f}"


REFUSED = [
    pytest.param("Catalog.get", {"id": 10**30}, -32404, id="no such product"),
    pytest.param("Catalog.get", {"id": "one"}, -32602, id="an id that is no number"),
    pytest.param("Catalog.get", {}, -32602, id="no id at all"),
    pytest.param("Catalog.search", {"query": ""}, -32602, id="no words to look for"),
    pytest.param("Catalog.search", {"query": "x", "limit": 101}, -32602, id="more than may be returned"),
    pytest.param("Catalog.search", {"query": "x", "category": "shoes"}, -32602, id="no such shelf"),
    pytest.param("Catalog.rename", {"id": 10**30, "name": "x"}, -32404, id="renaming nothing"),
    pytest.param("Catalog.suggest", {"prefix": "x"}, -32601, id="version 1 has no suggestions"),
]


@pytest.mark.parametrize(("method", "params", "code"), REFUSED)
def test_what_is_refused(catalog: PluginGateway, method: str, params: dict[str, object], code: int) -> None:
    """Every refusal has the code that the documents name."""
    assert catalog.call(method, params).error.code == code


def test_an_agent_reads_what_went_wrong(catalog: PluginGateway) -> None:
    """A product that is not there is an answer that the model sees."""
    answer = catalog.tool("Catalog.get", {"id": 0})
    assert answer.is_error
    assert "There is no product 0." in answer.text


def test_a_search_is_kept_for_five_minutes(catalog: PluginGateway) -> None:
    """The same search is answered from the cache until five minutes have passed."""
    for seconds in (0, 299, 2):
        catalog.clock.advance(seconds)
        catalog.call("Catalog.search", {"query": "gift"})
    assert [line["outcome"] for line in catalog.logs("call")] == ["success", "cached", "success"]


def test_a_rename_is_found_at_once(catalog: PluginGateway) -> None:
    """Renaming drops kept searches, so that nobody is shown the old name."""
    query = {"query": "qwertz"}
    assert catalog.call("Catalog.search", query).result == []
    catalog.call("Catalog.rename", {"id": 1, "name": "Qwertz Lamp"})
    assert [product["name"] for product in catalog.call("Catalog.search", query).result] == ["Qwertz Lamp"]
    assert catalog.events("cache.invalidate")[0].fields == {"method": "Catalog.search"}


def test_a_product_is_renamed_by_one_at_a_time(catalog: PluginGateway) -> None:
    """Who renames a product locks it, and no other product."""
    with catalog.locked("Catalog.rename", {"id": 1, "name": "x"}):
        assert catalog.call("Catalog.rename", {"id": 1, "name": "y"}).error.code == -32400
        assert catalog.call("Catalog.rename", {"id": 2, "name": "y"}).result["name"] == "y"
    assert catalog.call("Catalog.rename", {"id": 1, "name": "z"}).result["name"] == "z"


def test_version_2_tells_how_much_there_is(catalog: PluginGateway) -> None:
    """The second version's search has pages with a total."""
    page = catalog.tool("Catalog.search", {"query": "gift", "limit": 2, "offset": 2}, version=2).result
    first = catalog.tool("Catalog.search", {"query": "gift", "limit": 4}).result
    assert page["total"] > 4
    assert page["products"] == first[2:]


def test_version_2_changes_what_it_says(catalog: PluginGateway) -> None:
    """The second version has suggestions, no renaming, and everything else of the first."""
    first, second = (set(catalog.methods(group="mcp", version=version)) for version in (1, 2))
    assert second - first == {"Catalog.suggest"}
    assert first - second == {"Catalog.rename"}


def test_suggestions_begin_as_typed(catalog: PluginGateway) -> None:
    """Suggestions begin with what was typed, and are no more than asked for."""
    found = catalog.call("Catalog.suggest", {"prefix": "c", "limit": 3}, version=2).result
    assert len(found) == 3
    assert all(name.lower().startswith("c") for name in found)


def test_the_shelves_hold_everything(catalog: PluginGateway) -> None:
    """The shelves together hold all products."""
    assert sum(shelf["products"] for shelf in catalog.call("Catalog.shelves").result) == 200


@pytest.mark.parametrize(("cents", "percent", "left"), [(999, 0, 999), (999, 100, 0), (999, 33, 669)])
def test_a_discount_is_rounded_down(catalog: PluginGateway, cents: int, percent: int, left: int) -> None:
    """A discount never makes a price higher than it is exactly."""
    assert catalog.call("Catalog.discounted", {"cents": cents, "percent": percent}).result == left


def test_keeping_the_catalogue_is_not_for_agents(catalog: PluginGateway) -> None:
    """Only the intranet's group has what changes the catalogue's prices and products."""
    assert not [name for name in catalog.tools(group="mcp") if name.startswith("Admin.")]
    assert "Admin.add" in catalog.tools(group="internal")


def test_a_new_product_is_found(catalog: PluginGateway) -> None:
    """What is added can be found, and only once."""
    added = catalog.call("Admin.add", {"product": KETTLE}).result
    assert catalog.call("Catalog.search", {"query": "zephyr"}).result == [added]
    error = catalog.call("Admin.add", {"product": KETTLE}).error
    assert error.data["exception"] == "SkuTakenError"


def test_a_price_is_set_exactly(catalog: PluginGateway) -> None:
    """A price comes back to the cent."""
    assert catalog.call("Admin.set_price", {"id": 1, "price": "19.99"}).result["price"] == "19.99"


def test_agents_take_every_tool(catalog: PluginGateway) -> None:
    """No well-known client drops, mangles or refuses a tool, but for what a setting mends."""
    catalog.assert_clients()


def test_everything_is_described_in_both_languages(catalog: PluginGateway) -> None:
    """Agents read about each tool in English and in Ukrainian."""
    catalog.assert_texts("en", "uk")
    assert catalog.tools(locale="uk")["Catalog.search"]["title"] == "Пошук товарів"
    assert catalog.tools(locale="en")["Catalog.search"]["title"] == "Search products"
