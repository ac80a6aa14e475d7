"""A certificate of one's own for 127.0.0.1 and localhost, made anew for each run: nothing of it is kept."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files. The certificate signs itself, so that it is its own authority."""

    cert: Path
    key: Path


def make_certificate(folder: Path, name: str = "server") -> Certificate:
    """Make a certificate and its key in a folder, by the program openssl."""
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-keyout", str(made.key), "-out", str(made.cert), "-days", "2", "-subj", f"/CN={name}"),
        *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return made
