"""Ask osv.dev whether anything that the daemon is installed with is known to be unsafe; a step of `make ci`.

Exit 1 where something is, and where nobody could be asked although `--required` says so. Without it a machine that
reaches no such service says that in a line and goes on: what may not be installed is decided where there is a network.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".cache/audit/bin/pip-audit"
LOCK = ROOT / "requirements/runtime.lock"
WITHIN = 180.0
"""Seconds that the service has for all packages."""


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--required", action="store_true", help="exit 1 where nobody could be asked")
    required = parser.parse_args().required
    report = asked()
    if report is None:
        sys.stdout.write("audit: nobody could be asked, osv.dev cannot be reached from here\n")
        return int(required)
    unsafe = list(findings(report))
    sys.stdout.writelines(f"audit: {line}\n" for line in unsafe or [f"nothing is known of {packages(report)} packages"])
    return int(bool(unsafe))


def asked() -> Mapping[str, Any] | None:
    """What the service says of the lock file; None where it says nothing."""
    with tempfile.TemporaryDirectory(prefix="rpcgw-audit-") as folder:
        report = Path(folder, "report.json")
        command = [str(PROGRAM), "--requirement", str(LOCK), "--require-hashes", "--disable-pip"]
        command += ["--vulnerability-service", "osv", "--progress-spinner", "off", "--format", "json"]
        command += ["--output", str(report)]
        try:
            subprocess.run(command, capture_output=True, check=False, timeout=WITHIN)
            found: Mapping[str, Any] = json.loads(report.read_text())
        except (subprocess.TimeoutExpired, FileNotFoundError, ValueError):
            return None
        return found


def findings(report: Mapping[str, Any]) -> Iterator[str]:
    """A line for each known fault: the package, its version, the fault's name, and the versions that mend it."""
    for package in report["dependencies"]:
        for fault in package.get("vulns", ()):
            mended = ", ".join(fault["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']}: {fault['id']}, mended in {mended}"


def packages(report: Mapping[str, Any]) -> int:
    """How many packages were asked about."""
    return len(report["dependencies"])


if __name__ == "__main__":
    sys.exit(main())
