"""Canonical JSON: the same bytes for the same value."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from rpcgw.kernel.codec import NoJsonForm
from rpcgw.kernel.keys import canonical, canonical_of, digest


class Size(Enum):
    BIG = "big"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        pytest.param(
            {"a": 1, "b": {"c": 2, "d": 3}},
            {"b": {"d": 3, "c": 2}, "a": 1},
            True,
            id="the order of members means nothing",
        ),
        pytest.param([1, 2], [2, 1], False, id="the order of a list does"),
        pytest.param({"a": None}, {}, False, id="null is not absent"),
        pytest.param({"a": 1}, {"a": "1"}, False, id="a number is no text"),
        pytest.param({"a": 1}, {"a": True}, False, id="one is not true"),
        pytest.param({"a": 0}, {"a": False}, False, id="zero is not false"),
    ],
)
def test_equal_values_have_equal_keys(first: Any, second: Any, same: bool) -> None:
    """Keys are equal exactly where the JSON values are."""
    assert (digest(canonical(first)) == digest(canonical(second))) is same


def test_any_value_with_a_json_form_has_a_key() -> None:
    """A converted parameter is named by its JSON."""
    assert canonical_of({"size": Size.BIG, "at": (1, 2)}) == b'{"at":[1,2],"size":"big"}'


def test_what_has_no_json_form_has_no_key() -> None:
    """Half of a surrogate pair cannot be written."""
    with pytest.raises(NoJsonForm):
        canonical({"a": "\ud800"})
