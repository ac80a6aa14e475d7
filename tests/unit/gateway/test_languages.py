"""The product's own texts by language, and what catalogues get wrong of them."""

import pytest

from rpcgw.api.problems import Place
from rpcgw.config.catalogues import CatalogueFile
from rpcgw.gateway.languages import languages, message_problems
from rpcgw.kernel.language import ENGLISH
from rpcgw.texts.messages import UKRAINIAN


def file(locale: str, **messages: str) -> CatalogueFile:
    places = {f"rpcgw.messages.{key}": Place("rpc.yaml", 3, 5) for key in messages}
    return CatalogueFile("rpc.yaml", "", locale, {}, places, messages)


def test_english_needs_none() -> None:
    """Where nobody speaks another language, or says anything else in English, there is nothing to look up."""
    assert languages([[file("en")]], "en") == {}


def test_product() -> None:
    """A language that the product speaks is spoken where a catalogue is written in it, and where it is the default."""
    assert languages([[file("uk")]], "en") == {"uk": UKRAINIAN}
    assert languages([], "uk") == {"uk": UKRAINIAN}


def test_layers() -> None:
    """The operator's texts go before a plugin's, and those before the product's."""
    operator, plugin = [file("uk", missing="a")], [file("uk", missing="b", unique="c")]
    texts = languages([operator, plugin], "en")["uk"]
    assert (texts["missing"], texts["unique"], texts["email"]) == ("a", "c", UKRAINIAN["email"])


def test_region() -> None:
    """A regional language says what it says, then what its parent does, then the default language."""
    texts = languages([[file("uk-UA", missing="a"), file("uk", missing="b", unique="c"), file("de", email="d")]], "de")
    assert {key: texts["uk-UA"][key] for key in ("missing", "unique", "email")} == {
        "missing": "a",
        "unique": "c",
        "email": UKRAINIAN["email"],
    }
    assert texts["de"]["missing"] == ENGLISH["missing"]


def test_default_language() -> None:
    """A language without a text of its own has the default language's; English is never anything but itself."""
    texts = languages([[file("fr", missing="f")]], "uk")
    assert (texts["fr"]["missing"], texts["fr"]["unique"]) == ("f", UKRAINIAN["unique"])
    assert "en-GB" not in languages([[file("en-GB")]], "uk")


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        pytest.param({"missing": "x", "positions": "{given} {takes}"}, [], id="good ones"),
        pytest.param(
            {"mising": "x"}, [("unknown-message", 'the product says nothing by the key "mising"')], id="a key"
        ),
        pytest.param(
            {"less_than": "< {limit}"},
            [("message-facts", '"less_than" has no {limit}; English is said instead')],
            id="a fact",
        ),
        pytest.param(
            {"missing": "{"}, [("message-facts", '"missing" has no {{}; English is said instead')], id="half a fact"
        ),
    ],
)
def test_problems(messages: dict[str, str], problem: list[tuple[str, str]]) -> None:
    """A message that is never said, or cannot be, is a warning at its place."""
    found = list(message_problems([file("uk", **messages)]))
    assert [(each.code, each.text) for each in found] == problem
    assert all(each.place == Place("rpc.yaml", 3, 5) and each.level == "warning" for each in found)
