"""Where `--url` leads."""

import pytest

from rpcgw.cli.remote import at_version


@pytest.mark.parametrize(
    ("version", "url"),
    [
        pytest.param("v1", "http://h/mcp", id="version 1 is the endpoint's own"),
        pytest.param("v2", "http://h/mcp/v2", id="another one stands below"),
    ],
)
def test_address_of_a_version(version: str, url: str) -> None:
    """A version's address follows from the endpoint's."""
    assert at_version("http://h/mcp", version) == url
