"""How the daemon's processes end: exit codes, those of sysexits.h where there is one."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
BROKEN: Final = 70
"""EX_SOFTWARE: a plugin raised where nothing may."""
MISCONFIGURED: Final = 78
"""EX_CONFIG: starting again changes nothing."""
