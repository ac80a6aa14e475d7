"""The addresses of Redis: what a URL says, and which URLs say nothing."""

from __future__ import annotations

import pytest

from rpcgw.config.redisaddress import REDIS_SCHEMES, RedisAddress, is_redis, redis_address


def server(host: str = "h", port: int = 6379, **more: object) -> RedisAddress:
    return RedisAddress(kind="server", nodes=((host, port),), **more)  # type: ignore[arg-type]  # fields of any type


READ = [
    pytest.param("redis://h", server(), id="a host"),
    pytest.param("redis://", server("localhost"), id="this host"),
    pytest.param("redis://h:1/2", server(port=1, database=2), id="a port and a database"),
    pytest.param("redis://h/?db=3", server(database=3), id="the database as an option"),
    pytest.param("redis://[::1]:7/", server("::1", 7), id="an address of version 6"),
    pytest.param("redis://u:p@h", server(username="u", password="p"), id="user and password"),
    pytest.param("redis://:p%40%2Fs@h", server(password="p@/s"), id="a password alone, percent-encoded"),
    pytest.param("redis://:@h", server(password=""), id="an empty password"),
    pytest.param("unix:///run/redis.sock?db=2", RedisAddress(kind="server", nodes=(), path="/run/redis.sock", database=2), id="a socket"),
    pytest.param("unix://u:p@/run/r%20s", RedisAddress(kind="server", nodes=(), path="/run/r s", username="u", password="p"), id="a socket with a password"),
    pytest.param("rediss://h", server(tls=True), id="TLS"),
    pytest.param(
        "rediss://h?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem&ssl_check_hostname=false",
        server(tls=True, ca_file="/ca.pem", cert_file="/c.pem", key_file="/k.pem", check_hostname=False),
        id="TLS with certificates of one's own",
    ),
    pytest.param(
        "redis+sentinel://u:p@a,b:7,[::1]/mymaster/4",
        RedisAddress(kind="sentinel", nodes=(("a", 26379), ("b", 7), ("::1", 26379)), master="mymaster", database=4, username="u", password="p"),
        id="Sentinels",
    ),
    pytest.param(
        "rediss+sentinel://a/m?sentinel_username=s&sentinel_password=t",
        RedisAddress(kind="sentinel", nodes=(("a", 26379),), master="m", tls=True, sentinel_username="s", sentinel_password="t"),
        id="Sentinels with a password of their own",
    ),
    pytest.param("redis+cluster://a:1,b:2", RedisAddress(kind="cluster", nodes=(("a", 1), ("b", 2))), id="a Cluster"),
    pytest.param("rediss+cluster://a/0", RedisAddress(kind="cluster", nodes=(("a", 6379),), tls=True), id="a Cluster over TLS"),
]  # fmt: skip

REFUSED = [
    pytest.param("http://h", "must begin with redis://", id="another scheme"),
    pytest.param("redis:h", "must begin with redis://", id="no slashes"),
    pytest.param("redis://h\n", "must begin with redis://", id="a line break"),
    pytest.param("redis://a,b", "may name several hosts only for", id="two servers"),
    pytest.param("redis+cluster://a,,b", "names an empty host", id="a host that is missing"),
    pytest.param("redis://h:99999", "must name each host as", id="a port that is none"),
    pytest.param("redis://h:x", "must name each host as", id="a port that is no number"),
    pytest.param("redis://h/x", "must give its database as a number", id="a database by name"),
    pytest.param("redis://h/²", "must give its database as a number", id="a digit that is no number"),
    pytest.param("redis://h/1/2", "has a path that is too long", id="two databases"),
    pytest.param("redis+sentinel://h", "must name what the Sentinels watch", id="Sentinels of nothing"),
    pytest.param("redis+sentinel://h/m/1/2", "has a path that is too long", id="Sentinels and two databases"),
    pytest.param("redis+cluster://h/1", "must not name a database", id="a database in a Cluster"),
    pytest.param("unix://h/s", "must name a socket", id="a socket on a host"),
    pytest.param("unix://", "must name a socket", id="no socket"),
    pytest.param("redis://h?timeout=1", "has the unknown option 'timeout'", id="an unknown option"),
]


@pytest.mark.parametrize(("url", "address"), READ)
def test_what_a_url_says(url: str, address: RedisAddress) -> None:
    """One form for each kind of Redis."""
    assert redis_address(url) == address


@pytest.mark.parametrize(("url", "text"), REFUSED)
def test_what_is_refused(url: str, text: str) -> None:
    """The text says what is wrong."""
    with pytest.raises(ValueError, match=text):
        redis_address(url)


@pytest.mark.parametrize("url", ["redis://u:hunter2@a,b", "redis://u:hunter2@h/x", "unix://u:hunter2@h/s"])
def test_nothing_of_a_url_is_shown(url: str) -> None:
    """A URL holds a password."""
    with pytest.raises(ValueError, match=r"must|may") as caught:
        redis_address(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("scheme", REDIS_SCHEMES)
def test_schemes_are_known(scheme: str) -> None:
    """What is a Redis is told by the scheme alone."""
    assert is_redis(f"{scheme}://whatever")
    assert not is_redis(f"x{scheme}://whatever")
