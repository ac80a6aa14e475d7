"""Names of components."""

from __future__ import annotations

import pytest

from rpcgw.kernel.components import component, names_of, reached

HERE = "shop.models.Product:1"
THERE = "stock.Product:2"


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        pytest.param([("Product", HERE)], ["Product"], id="one class"),
        pytest.param([("Product-Input", HERE), ("Product-Output", HERE)], ["Product", "ProductOutput"], id="two forms"),
        pytest.param([("Product-Output", HERE)], ["Product"], id="the form that goes out, alone"),
        pytest.param([("shop__Product", HERE), ("stock__Product", THERE)], ["shop_models_Product", "stock_Product"], id="two classes with one name"),
        pytest.param([("a", "f.<locals>.X:1"), ("b", "f.<locals>.X:2")], ["f_X", "f_X_2"], id="two classes in one function"),
        pytest.param([("Page_Product_", f"shop.Page:3[{HERE}]")], ["Page_Product"], id="a generic class"),
        pytest.param([("Al", "Al")], ["Al"], id="a recursive alias"),
    ],
)  # fmt: skip
def test_names(rows: list[tuple[str, str]], names: list[str]) -> None:
    """The shortest name that is unique among those that stand together."""
    components = {key: component({}, origin, output=key.endswith("-Output")) for key, origin in rows}
    assert list(names_of(components, components).values()) == names


def test_what_is_reached() -> None:
    """References are followed, in circles too."""
    schemas = {name: {"$ref": f"#/components/schemas/{other}"} for name, other in (("A", "B"), ("B", "A"), ("C", "A"))}
    components = {name: component(schema, name, output=False) for name, schema in schemas.items()}
    assert reached({"items": {"$ref": "#/components/schemas/A"}}, components) == {"A", "B"}
