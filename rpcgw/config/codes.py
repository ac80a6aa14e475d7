"""The codes of configuration problems, for the reference pages. A code is stable: scripts may look at it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        "bad-value": "A value has the right type and is not one that the option takes.",
        "duplicate-key": "A key stands twice in one mapping; only one of them could hold.",
        "env-syntax": "A %env(...)% or ${...} is not written as rpcgw reads it.",
        "env-unset": "An environment variable is not set, and no default is given.",
        "env-value": "An environment variable cannot be read as the processor wants it.",
        "import-cycle": "A file imports itself, directly or through others.",
        "missing-file": "A file or directory that the configuration needs is not there, or cannot be read.",
        "missing-option": "An option that has no default is not given.",
        "missing-package": "An option needs a package that is not installed.",
        "not-available": "The option is planned; this version does not do it yet, and refuses to look as if it did.",
        "out-of-range": "A number is too small or too large.",
        "reference-cycle": "Parameters or variables name each other in a circle.",
        "route-collision": "Two routes, or a route and a path of the daemon, would answer at the same path.",
        "route-name": "Two routes would carry the same name.",
        "shared-nothing": "Several workers are asked to share what each would keep in its own memory (warning).",
        "stray-file": "A file among the catalogues has a name that no catalogue has (warning).",
        "undefined-parameter": "A parameter is named that nothing defines.",
        "unknown-option": "The option does not exist.",
        "unknown-pool": "A pool is named that is not configured.",
        "unknown-site": "A route serves a site that is not configured.",
        "unused-group": "Something is set for a group that no route serves (warning).",
        "unused-site": "Something is set for a site that no route serves (warning).",
        "webmcp-primitive": "A tool of a page does not say what it does, or says two things.",
        "wrong-type": "A value has the wrong type.",
        "yaml-syntax": "The file is no YAML, or uses a part of YAML that configuration has no use for.",
    }
)
