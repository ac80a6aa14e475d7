"""TLS: what is served with a certificate, and a certificate that is renewed while everything goes on."""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
import warnings
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.support.daemon import ROOT, Daemon, cli, daemon, folder, wait_until
from tests.support.http import Answer, exchange

CONFIG: dict[str, Any] = {
    "server": {"workers": 2, "tls": {"cert": "tls/cert.pem", "key": "tls/key.pem"}},
    "ufo_json_rpc": {"security": {"protected_api": False}},
}
FRONT = {"http": {"fast_front": True}}
CERTIFICATES = ROOT / "tests/support/tls"
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


def given(name: str) -> dict[str, str]:
    return {
        "tls/cert.pem": (CERTIFICATES / f"{name}.pem").read_text(),
        "tls/key.pem": (CERTIFICATES / f"{name}-key.pem").read_text(),
    }


class Caller:
    """A connection that trusts one certificate only."""

    def __init__(self, running: Daemon, name: str) -> None:
        context = ssl.create_default_context(cafile=str(CERTIFICATES / f"{name}.pem"))
        self.connection = http.client.HTTPSConnection("127.0.0.1", running.port, timeout=20, context=context)

    def ping(self) -> Answer:
        return exchange(self.connection, "POST", "/rpc", PING, {"Content-Type": "application/json"})

    def subject(self) -> str:
        assert isinstance(self.connection.sock, ssl.SSLSocket)
        certificate = self.connection.sock.getpeercert()
        assert certificate is not None
        return dict(pair for part in certificate["subject"] for pair in part)["commonName"]  # type: ignore[misc]


def shown(running: Daemon) -> str:
    """Which certificate a new connection is shown."""
    for name in ("first", "second"):
        caller = Caller(running, name)
        with closing(caller.connection), suppress(ssl.SSLCertVerificationError):
            caller.ping()
            return name
    return ""


@pytest.mark.parametrize("front", [{}, FRONT], ids=["aiohttp's door", "the fast front"])
def test_a_reload_renews_the_certificate(front: dict[str, Any]) -> None:
    """New connections see the new one; an open one goes on with the old, and no call fails."""
    with daemon(config=CONFIG | front, files=given("first")) as running:
        early = Caller(running, "first")
        with closing(early.connection):
            assert early.ping().json()["result"] == "PONG"
            assert early.subject() == "first"
            running.write(given("second"))
            running.hup()
            running.wait_log("reload.done")
            assert early.ping().json()["result"] == "PONG"
        wait_until(lambda: shown(running) == "second", 30, running.stderr)
        late = Caller(running, "second")
        with closing(late.connection):
            assert late.ping().json()["result"] == "PONG"
            assert late.subject() == "second"
        with pytest.raises(ssl.SSLCertVerificationError):
            Caller(running, "first").ping()


def test_a_certificate_that_cannot_be_used_keeps_a_reload_from_happening() -> None:
    """The old one serves on; the problem is logged with its place."""
    with daemon(config=CONFIG, files=given("first")) as running:
        shutil.copy(CERTIFICATES / "second-key.pem", running.folder / "tls/key.pem")
        running.hup()
        running.wait_log("reload.refused")
        told = running.stderr()
        caller = Caller(running, "first")
        with closing(caller.connection):
            assert caller.ping().json()["result"] == "PONG"
    assert "certificate" in told
    assert "gateway.yaml:" in told


def test_who_speaks_no_tls_hears_nothing() -> None:
    """Plain HTTP to a TLS address ends without an answer; others are served."""
    with daemon(config=CONFIG, files=given("first")) as running:
        with pytest.raises((http.client.HTTPException, OSError)):
            running.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        caller = Caller(running, "first")
        with closing(caller.connection):
            assert caller.ping().status == 200


def test_the_command_line_trusts_the_authority_that_it_is_told() -> None:
    """`--url` names a certificate that nobody vouches for as what it is, and what makes it trusted."""
    with daemon(config=CONFIG, files=given("first")) as running:
        asked = ("call", "ping", "--url", f"https://127.0.0.1:{running.port}/rpc")
        refused = cli(*asked, cwd=running.folder)
        trusted = cli(*asked, cwd=running.folder, env={"SSL_CERT_FILE": str(CERTIFICATES / "first.pem")})
    assert refused.returncode == 1
    assert "is not trusted" in refused.stderr
    assert "SSL_CERT_FILE" in refused.stderr
    assert (trusted.returncode, trusted.stdout) == (0, '"PONG"\n'), trusted.stderr


def test_old_versions_of_tls_are_refused() -> None:
    """1.2 is the oldest."""
    with daemon(config=CONFIG, files=given("first")) as running:
        caller = Caller(running, "first")
        with closing(caller.connection):
            caller.ping()
            assert isinstance(caller.connection.sock, ssl.SSLSocket)
            assert caller.connection.sock.version() == "TLSv1.3"
        context = ssl.create_default_context(cafile=str(CERTIFICATES / "first.pem"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        old = http.client.HTTPSConnection("127.0.0.1", running.port, timeout=20, context=context)
        with closing(old), pytest.raises(ssl.SSLError):
            exchange(old, "GET", "/livez")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param({}, "cert.pem cannot be read: No such file or directory", id="no such file"),
        pytest.param({"tls/cert.pem": "no PEM", "tls/key.pem": "neither"}, "cannot be used", id="no certificate"),
    ],
)
def test_what_cannot_be_used_is_a_problem_at_its_line(files: dict[str, str], says: str) -> None:
    """It ends with 78 and says where, what, and what to do; no traceback."""
    text = "server:\n  tls:\n    cert: tls/cert.pem\n    key: tls/key.pem\nufo_json_rpc: {security: {protected_api: false}}\n"
    with folder(config=text, files=files) as place:
        done = cli("serve", "--bind", "127.0.0.1:0", cwd=place)
        checked = cli("check", cwd=place)
    assert (done.returncode, checked.returncode) == (78, 1)
    assert "error[certificate]" in checked.stdout + checked.stderr
    assert done.stderr.startswith("gateway.yaml:2:3: error[certificate]")
    assert says in done.stderr
    assert "help: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_private_key_is_never_shown() -> None:
    """Neither the effective configuration nor the log holds anything of it."""
    secret = "".join((CERTIFICATES / "first-key.pem").read_text().splitlines()[1:-1])[:40]
    with daemon(config=CONFIG, files=given("first")) as running:
        shown = cli("check", "--print-config", cwd=running.folder)
        assert secret not in shown.stdout + shown.stderr + running.stderr()


def test_a_handshake_that_does_not_come_is_not_waited_for() -> None:
    """A connection to a TLS address that says nothing is ended like any other."""
    config = CONFIG | {"server": {**CONFIG["server"], "timeouts": {"head": 1}}}
    with daemon(config=config, files=given("first")) as running, running.socket() as silent:
        assert silent.recv(1) == b""
