"""Words of a command line as JSON values."""

import pytest

from rpcgw.cli.arguments import NotAnArgumentError, arguments

SCHEMA = {
    "properties": {
        "name": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        pytest.param("name=5", {"name": "5"}, id="a string stays one even where it looks like a number"),
        pytest.param("name=", {"name": ""}, id="an empty string"),
        pytest.param("name=a=b", {"name": "a=b"}, id="only the first = parts"),
        pytest.param("limit=5", {"limit": 5}, id="a number"),
        pytest.param('tags=["a","b"]', {"tags": ["a", "b"]}, id="an array"),
        pytest.param("since=null", {"since": None}, id="null where it may be"),
        pytest.param("since=2026-01-01", {"since": "2026-01-01"}, id="what is no JSON is a string"),
        pytest.param("unknown=true", {"unknown": True}, id="an unknown name is left to the gate"),
    ],
)
def test_value(word: str, value: dict[str, object]) -> None:
    """The schema decides how a word is read."""
    assert arguments([word], SCHEMA) == value


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["name"], "'name' is no key=value"),
        (["=x"], "'=x' is no key=value"),
        (["limit=1", "limit=2"], "'limit' is given twice"),
    ],
    ids=["no equals sign", "no name", "a name twice"],
)
def test_refused(words: list[str], text: str) -> None:
    """A word that is no argument is refused with the word."""
    with pytest.raises(NotAnArgumentError, match=text):
        arguments(words, SCHEMA)
