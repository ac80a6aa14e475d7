"""Which text a client sees."""

from __future__ import annotations

import pytest

from rpcgw.texts import Catalogue, Catalogues, Texts

GROUP_UK, GROUP_EN, BASE_UK, BASE_EN = ("mcp", "uk"), ("mcp", "en"), ("", "uk"), ("", "en")


def texts(*cells: tuple[str, str], field: str = "title") -> Texts:
    layer = [Catalogue.of(group, locale, {"A.b": {field: f"{group or 'base'} {locale}"}}) for group, locale in cells]
    return Texts(Catalogues(layer), "en")


CHAIN = [
    pytest.param((GROUP_UK, GROUP_EN, BASE_UK, BASE_EN), "mcp uk", id="the group in the client's language"),
    pytest.param((GROUP_EN, BASE_UK, BASE_EN), "mcp en", id="the group in the default language"),
    pytest.param((BASE_UK, BASE_EN), "base uk", id="the base in the client's language"),
    pytest.param((BASE_EN,), "base en", id="the base in the default language"),
    pytest.param((), "from code", id="what the code says"),
    pytest.param((("other", "uk"), ("", "de")), "from code", id="other groups and languages say nothing"),
]


@pytest.mark.parametrize(("cells", "expected"), CHAIN)
def test_title(cells: tuple[tuple[str, str], ...], expected: str) -> None:
    """T-05: a title falls back step by step."""
    assert texts(*cells).title("mcp", "A.b", "uk", "from code") == expected


@pytest.mark.parametrize(("cells", "expected"), CHAIN)
def test_description(cells: tuple[tuple[str, str], ...], expected: str) -> None:
    """T-05: a description falls back step by step, on its own."""
    found = texts(*cells, field="description").description("mcp", "A.b", "uk", "from code", code_title="title")
    assert found == expected


def test_fields_fall_back_on_their_own() -> None:
    """T-05: a title from one catalogue goes with a description from another."""
    layer = [
        Catalogue.of("mcp", "uk", {"A.b": {"description": "опис"}}),
        Catalogue.of("", "en", {"A.b": {"title": "title", "params": {"q": "word"}}}),
    ]
    found = Texts(Catalogues(layer), "en")
    assert found.title("mcp", "A.b", "uk") == "title"
    assert found.description("mcp", "A.b", "uk") == "опис"
    assert found.parameter("mcp", "A.b", "q", "uk", "code") == "word"
    assert found.parameter("mcp", "A.b", "other", "uk", "code") == "code"
    assert found.parameter("mcp", "A.b", "other", "uk") is None


def test_nothing_anywhere() -> None:
    """T-06: without a title the name is the title, without a description the title is the description."""
    nothing = Texts(Catalogues(), "en")
    assert nothing.title("mcp", "A.b", "uk") == "A.b"
    assert nothing.title("mcp", "A.b", "uk", "") == "A.b"
    assert nothing.description("mcp", "A.b", "uk") == "A.b"
    assert nothing.description("mcp", "A.b", "uk", code_title="Title") == "Title"
    assert texts(BASE_UK).description("mcp", "A.b", "uk", "") == "base uk"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param((("", "pt-BR"), ("", "pt"), ("", "en")), "base pt-BR", id="the region"),
        pytest.param((("", "pt"), ("", "en")), "base pt", id="its language"),
        pytest.param((("mcp", "pt"), ("", "pt-BR")), "mcp pt", id="the group's language before the base's region"),
    ],
)
def test_regions(cells: tuple[tuple[str, str], ...], expected: str) -> None:
    """A regional language stands before its parent at each step."""
    assert texts(*cells).title("mcp", "A.b", "pt-BR") == expected


def test_layers() -> None:
    """A plugin's own texts stand below the operator's, field by field, and above what the code says."""
    operator = [Catalogue.of("", "en", {"A.b": {"title": "operator", "params": {"q": "operator"}}})]
    plugin = [
        Catalogue.of(
            "", "en", {"A.b": {"title": "plugin", "description": "plugin", "params": {"q": "p", "r": "plugin"}}}
        ),
        Catalogue.of("", "uk", {"C.d": {"title": "плагін"}}),
    ]
    found = Texts(Catalogues(operator, plugin), "en")
    assert found.title("mcp", "A.b", "en") == "operator"
    assert found.description("mcp", "A.b", "en", "code") == "plugin"
    assert [found.parameter("mcp", "A.b", name, "en") for name in ("q", "r")] == ["operator", "plugin"]
    assert found.title("mcp", "C.d", "uk") == "плагін"


def test_available_languages() -> None:
    """A group's languages are those of its own catalogues and of the base, and the default one."""
    found = Texts(
        Catalogues([Catalogue.of("mcp", "uk", {}), Catalogue.of("", "pt_br", {}), Catalogue.of("x", "de", {})])
    )
    assert found.available("mcp") == {"en", "uk", "pt-BR"}
    assert found.negotiate("mcp", "de, pt;q=0.9") == "pt-BR"
