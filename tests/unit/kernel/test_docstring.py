"""What is read from docstrings."""

from __future__ import annotations

import pytest

from rpcgw.kernel.docstring import Docstring, read_docstring

GOOGLE = """Find products by name.

    Both languages are searched.

    Args:
        query: Words to
            look for.
        *more: More words.

    Returns:
        The products.

    Raises:
        KeyError: Nothing fits.
    """
REST = """Find products by name.

    Both languages are searched.

    :param query: Words to
        look for.
    :param more: More words.
    :returns: The products.
    :raises KeyError: Nothing fits.
    """
NUMPY = """Find products by name.

    Both languages are searched.

    Parameters
    ----------
    query : str
        Words to
        look for.
    more : str
        More words.

    Returns
    -------
    list
        The products.

    Raises
    ------
    KeyError
        Nothing fits.
    """
READ = Docstring(
    description="Find products by name.\n\nBoth languages are searched.",
    params={"query": "Words to look for.", "more": "More words."},
    returns="The products.",
    raises=(("KeyError", "Nothing fits."),),
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param(GOOGLE, READ, id="Google style"),
        pytest.param(REST, READ, id="reST style"),
        pytest.param(NUMPY, READ, id="NumPy style"),
        pytest.param("One line.", Docstring("One line."), id="one line"),
        pytest.param("First\n    second.", Docstring("First\nsecond."), id="lines without a blank one between"),
        pytest.param(None, Docstring(), id="none"),
        pytest.param("", Docstring(), id="an empty one"),
        pytest.param("Old.\n\n:deprecated: since 2", Docstring("Old.", deprecated=True), id="deprecated"),
        pytest.param(
            "Old.\n\n.. deprecated:: 2\n    Use new.\n\nArgs:\n    a: A.",
            Docstring("Old.", {"a": "A."}, deprecated=True),
            id="deprecated by a directive, in any style",
        ),
        pytest.param("Odd.\n\n:param", Docstring("Odd.\n\n:param"), id="one that no style can read"),
    ],
)
def test_docstrings(text: str | None, read: Docstring) -> None:
    """T-05: the description is what stands above the sections; parameters come in one line each."""
    assert read_docstring(text) == read
