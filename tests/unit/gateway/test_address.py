"""Where clients reach the daemon."""

from __future__ import annotations

import pytest

from rpcgw.config.settings import Server, Settings
from rpcgw.gateway.address import public_url


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        pytest.param(Server(public_url="https://a.example.com/x"), "https://a.example.com/x", id="what the operator says"),
        pytest.param(Server(), "http://127.0.0.1:8080", id="the loopback address that is bound"),
        pytest.param(Server(bind=("localhost:80", "0.0.0.0:81")), "http://localhost:80", id="the first of several"),
        pytest.param(Server(bind=("[::1]:8080",)), "http://[::1]:8080", id="loopback of IPv6"),
        pytest.param(Server(bind=("0.0.0.0:8080",)), None, id="an address that says nothing"),
        pytest.param(Server(bind=("127.0.0.1:0",)), None, id="a port that the system picks"),
        pytest.param(Server(bind=("unix:/run/rpcgw.sock",)), None, id="a socket file"),
        pytest.param(Server(bind=()), None, id="nothing"),
    ],
)  # fmt: skip
def test_public_url(server: Server, expected: str | None) -> None:
    """`server.public_url`, else a loopback address with its port, else nobody knows."""
    assert public_url(Settings("gateway.yaml", server=server)) == expected
