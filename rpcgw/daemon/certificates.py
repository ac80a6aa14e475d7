"""The certificate that the door shows: read once a generation, before any fork, so that a reload renews it."""

from __future__ import annotations

import ssl
from pathlib import Path

from rpcgw.api.problems import Place, Problem
from rpcgw.config.settings import Settings


def load_tls(settings: Settings) -> tuple[ssl.SSLContext | None, list[Problem]]:
    """What to speak TLS with: 1.2 or later, HTTP/1.1; None where the settings name no certificate.

    A certificate or key that cannot be read, or that do not belong together, are a problem at the setting's line.
    """
    tls = settings.server.tls
    if tls is None:
        return None, []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        for name in (tls.cert, tls.key):  # to say which of them it is
            Path(name).read_bytes()
        # An empty passphrase, so that a key that has one is an error and not a question on a terminal.
        context.load_cert_chain(tls.cert, tls.key, password="")
    except ssl.SSLError as error:
        text = f"the certificate {tls.cert} and the key {tls.key} cannot be used: {_words(error)}"
        hint = "both must be PEM, belong together, and the key must have no passphrase"
        return None, [_problem(settings, text, hint)]
    except OSError as error:
        text = f"{error.filename} cannot be read: {error.strerror}"
        return None, [_problem(settings, text, "it must be there, and the daemon's user must be allowed to read it")]
    return context, []


def _words(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()


def _problem(settings: Settings, text: str, hint: str) -> Problem:
    place = settings.places.get("server.tls", Place(settings.source))
    return Problem(place, "certificate", text, hint)
