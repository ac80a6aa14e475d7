"""What `rpcgw check` says of catalogues: keys of nothing, and texts that are missing."""

from typing import Any

import rpcgw as rpc
from rpcgw.api.problems import Place
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.gateway.catalogues import catalogue_problems
from rpcgw.kernel.exposure import Registration
from rpcgw.kernel.table import compile_methods
from rpcgw.texts import Catalogue, Catalogues, Texts


@rpc.procedure("Shop", groups=["shop"], with_default=False)
class Shop:
    def find(self, query: str) -> None:
        """Find.

        Args:
            query: Words.
        """

    def bare(self) -> None: ...


@rpc.procedure("Other", groups=["shop"])
class Other:
    def look(self) -> None:
        """Look at something."""


@rpc.procedure("Ping", groups=["shop"])
class Ping:
    def see(self) -> None:
        """See something."""


TABLE, _ = compile_methods([Registration(Shop, "shop")])
FIND = {"title": "Т", "description": "О"}


def file(locale: str, group: str = "", **methods: dict[str, Any]) -> CatalogueFile:
    named = {name.replace("_", "."): texts for name, texts in methods.items()}
    places = {name: Place(f"{locale}.yaml", 1 + at, 1) for at, name in enumerate(named)}
    return CatalogueFile(f"{locale}.yaml", group, locale, named, places)


def said(*files: CatalogueFile, default: str = "en") -> list[str]:
    texts = Texts(Catalogues([Catalogue.of(each.group, each.locale, each.methods) for each in files]), default)
    return [str(problem) for problem in catalogue_problems(files, TABLE, texts, ["shop", "none"])]


def test_all_said() -> None:
    """A language that says what the others say has no problem, and a method that nobody describes needs no text."""
    assert said(file("uk", Shop_find=FIND), file("en", Shop_find=FIND)) == []


def test_plugins_that_nobody_translates() -> None:
    """Neither what is built in needs a text, nor methods of a plugin that no catalogue speaks of."""
    table, _ = compile_methods([Registration(Shop, "shop"), Registration(Other, "other"), Registration(Ping, "")])
    files = [file("uk", Shop_find=FIND), file("en", Shop_find=FIND)]
    texts = Texts(Catalogues([Catalogue.of(each.group, each.locale, each.methods) for each in files]), "en")
    assert set(table.methods("shop", 1) or {}) >= {"Other.look", "Ping.see"}
    assert catalogue_problems(files, table, texts, ["shop"]) == []


def test_unmatched() -> None:
    """A key that is no method, or not of the group, and a parameter that there is none of, are told with their place."""
    assert said(
        file("en", Shop_fnd=FIND, Shop_find={"params": {"qury": "x"}}), file("en", "general", Shop_find=FIND)
    ) == [
        'en.yaml:1:1: warning[unknown-method] "Shop.fnd" matches no method (`rpcgw methods` lists them)',
        'en.yaml:2:1: warning[unknown-parameter] "Shop.find" has no parameter "qury" (parameters: query)',
        (
            'en.yaml:1:1: warning[unknown-method] "Shop.find" matches no method of the group "general" '
            "(`rpcgw methods` lists them)"
        ),
    ]


def test_missing_field() -> None:
    """What the code, or another language, says of a method is asked for in each language."""
    assert said(file("uk", Shop_find={"title": "Т"})) == [
        'uk.yaml:1:1: warning[missing-text] "Shop.find" has no description in uk'
    ]
    assert said(file("uk", Shop_find=FIND), file("de", Shop_bare={"title": "B"}), file("uk", Shop_bare={})) == [
        'de.yaml: warning[missing-text] "Shop.find" has no description, title in de',
        'uk.yaml:1:1: warning[missing-text] "Shop.bare" has no title in uk',
    ]


def test_parameters() -> None:
    """Parameters are asked for where a language speaks of some."""
    bare = {"description": "О", "params": {"x": "y"}}
    assert 'uk.yaml:1:1: warning[missing-text] "Shop.find" has no params.query in uk' in said(
        file("uk", Shop_find={"description": "О"}, Shop_bare=bare)
    )


def test_region_and_default() -> None:
    """A regional language may leave everything to its parent; the default language may leave it to the code."""
    assert said(file("uk", Shop_find=FIND), file("uk-UA", Shop_find={})) == []
    assert said(file("uk", Shop_find={}), default="uk") == []
