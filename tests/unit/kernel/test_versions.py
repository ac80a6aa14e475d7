"""Versions within groups."""

from __future__ import annotations

import rpcgw as rpc
from rpcgw.kernel.exposure import Exposure, Registration, expose
from rpcgw.kernel.versions import arrange


@rpc.procedure("Shop", groups=["mcp"])
class Shop:
    def search(self) -> int:
        return 1

    def rename(self) -> int:
        return 1


@rpc.procedure("Shop", groups=["mcp"], with_default=False, version=2, removed=["rename"])
class Shop2:
    def search(self) -> int:
        return 2

    def count(self) -> int:
        return 2


@rpc.procedure("Shop", groups=["mcp"], with_default=False, version=10)
class Shop10:
    def rename(self) -> int:
        return 10


@rpc.procedure("Shop", groups=["mcp"], with_default=False, version=11, removed=["search", "count", "rename"])
class Shop11:
    pass


@rpc.procedure("Shop", groups=["mcp"])
class Better(Shop):
    def search(self) -> int:
        return 3


@rpc.procedure("Shop", groups=["other"])
class Rival:
    def search(self) -> int:
        return 4


@rpc.procedure("Shop", version=2, removed=["nosuch"])
class Wrong:
    pass


def exposures(*procedures: type) -> list[Exposure]:
    return [exposure for procedure in procedures if (exposure := expose(Registration(procedure, "p"))[0])]


def table(*procedures: type) -> dict[str, dict[int, dict[str, type]]]:
    arrangement, problems = arrange(exposures(*procedures))
    assert problems == []
    return {
        group: {v: {name: m.registration.cls for name, m in names.items()} for v, names in versions.items()}
        for group, versions in arrangement.items()
    }


def test_a_version_inherits_replaces_and_removes() -> None:
    """C-20: a version is the one before it, with its own methods, without what it removes."""
    assert table(Shop, Shop2)["mcp"] == {
        1: {"Shop.rename": Shop, "Shop.search": Shop},
        2: {"Shop.count": Shop2, "Shop.search": Shop2},
    }


def test_what_was_removed_stays_away_until_it_is_back() -> None:
    """Versions are ordered as numbers: 10 comes after 2, and has again what 2 removed."""
    assert table(Shop10, Shop2, Shop)["mcp"][10] == {
        "Shop.count": Shop2,
        "Shop.rename": Shop10,
        "Shop.search": Shop2,
    }


def test_versions_belong_to_groups() -> None:
    """C-20: a group has the versions that some procedure of it declares."""
    assert list(table(Shop, Shop2)["general"]) == [1]


def test_a_version_without_methods_is_none() -> None:
    """C-20: a version in which nothing is left does not exist."""
    assert list(table(Shop, Shop2, Shop10, Shop11)["mcp"]) == [1, 2, 10]


def test_a_subclass_replaces_its_parent() -> None:
    """Of a class and its heir under one name the heir is served."""
    assert table(Shop, Better)["mcp"][1] == {"Shop.rename": Better, "Shop.search": Better}


def test_two_procedures_with_one_method() -> None:
    """The same method of strangers is a problem that names both places, once."""
    _, problems = arrange(exposures(Shop, Rival))
    (problem,) = problems
    assert problem.code == "duplicate"
    assert problem.place.file == __file__
    assert problem.text.startswith(f"Shop.search: version 1 is also defined by Shop at {__file__}:")
    assert problem.text.endswith("of plugin 'p'")


def test_removing_what_is_not_there() -> None:
    """`removed` that names nothing is a warning."""
    _, problems = arrange(exposures(Wrong))
    (problem,) = problems
    assert (problem.level, problem.code) == ("warning", "removed")
    assert problem.text == "Shop.nosuch: version 2 removes it, and no earlier version has it"
