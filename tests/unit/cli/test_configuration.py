"""The configuration in effect as it is printed."""

from __future__ import annotations

from rpcgw.api.problems import Place
from rpcgw.cli.configuration import as_records, as_yaml
from rpcgw.config.effective import Setting
from rpcgw.config.nodes import plain
from rpcgw.config.parsing import parse

SETTINGS = [
    Setting(("environment",), "dev", "--env"),
    Setting(("server", "bind"), ["a:1", "b:2"], "g.yaml:3", Place("g.yaml", 3, 1)),
    Setting(("server", "timeouts", "grace"), 20, "default"),
    Setting(("server", "allow_unprotected"), False, "default"),
    Setting(("methods", "yes: no", "deadline"), None, "default"),
]


def test_yaml() -> None:
    """Sections are indented, values are such as a gateway file has them."""
    assert as_yaml(SETTINGS, origins=False) == [
        'environment: "dev"',
        "server:",
        '    bind: ["a:1","b:2"]',
        "    timeouts:",
        "        grace: 20",
        "    allow_unprotected: false",
        "methods:",
        '    "yes: no":',
        "        deadline: ~",
    ]


def test_origins() -> None:
    """Each value has its origin in a comment, all in one column."""
    lines = as_yaml(SETTINGS, origins=True)
    assert lines[0] == 'environment: "dev"            # --env'
    assert lines[1] == "server:"
    assert len({line.index("#") for line in lines if "#" in line}) == 1


def test_it_can_be_read_again() -> None:
    """What is printed is YAML with the same values."""
    node, problems = parse("\n".join(as_yaml(SETTINGS, origins=True)), "g.yaml")
    assert problems == []
    assert node is not None
    assert plain(node) == {
        "environment": "dev",
        "server": {"bind": ["a:1", "b:2"], "timeouts": {"grace": 20}, "allow_unprotected": False},
        "methods": {"yes: no": {"deadline": None}},
    }


def test_records() -> None:
    """Programs get one object for each setting."""
    assert as_records(SETTINGS[:2]) == [
        {"setting": "environment", "value": "dev", "origin": "--env", "file": None, "line": None},
        {"setting": "server.bind", "value": ["a:1", "b:2"], "origin": "g.yaml:3", "file": "g.yaml", "line": 3},
    ]
