"""The gateway file with all that belongs to it, as one tree: imports, the environment's blocks, parameters, variables.

The environment is settled first, by what the command line, RPCGW_ENV and the files outside of `when@` blocks say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rpcgw.api.problems import Place, Problem
from rpcgw.api.records import record
from rpcgw.config.importing import Importing, without
from rpcgw.config.interpolation import Variables, interpolate
from rpcgw.config.nodes import Leaf, Node, Table, plain
from rpcgw.config.sources import Reader, Unreadable, absolute, beside
from rpcgw.config.wording import described, quoted

DEFAULT_ENVIRONMENT = "prod"
GIVEN = ("kernel.environment", "kernel.project_dir")
"""Parameters that are always there: the environment's name, and the directory of the gateway file."""


@record(frozen=True, slots=True)
class Chosen:
    """What the command line says of the environment."""

    environment: str | None = None
    dev: bool = False

    def name(self, env: Mapping[str, str]) -> str | None:
        """`--env`, else dev for `--dev`, else RPCGW_ENV; None leaves it to the file."""
        return self.environment or ("dev" if self.dev else env.get("RPCGW_ENV") or None)


FROM_FILE = Chosen()
"""The command line says nothing."""


@record(frozen=True, slots=True)
class Assembled:
    """The options of a configuration: filled in, and as they were written.

    `node` is None where the gateway file is empty or cannot be read.
    """

    node: Table | None
    problems: tuple[Problem, ...]
    variables: Variables
    environment: str
    written: Table | None = None


def assemble(reader: Reader, file: str, env: Mapping[str, str], chosen: Chosen) -> Assembled:
    """Read the gateway file and all that it imports. Never raises: what is wrong is among the problems."""
    directory = Leaf(absolute(reader.base, beside(file, ".")), Place(file))
    variables = Variables(env, reader, {"kernel.project_dir": directory})
    environment = chosen.name(env)
    try:
        if environment is None:
            environment = _environment_of(Importing(variables, None).file(file), variables)
        at_start = {**variables.parameters, "kernel.environment": Leaf(environment, Place(file))}
        importing = Importing(replace(variables, parameters=at_start), environment)
        table = importing.file(file)
    except Unreadable as error:
        problem = Problem(Place(file), "missing-file", f"The file cannot be read: {error}.")
        return Assembled(None, (problem,), variables, environment or DEFAULT_ENVIRONMENT)
    if table is None:
        return Assembled(None, tuple(importing.problems), importing.variables, environment)
    parameters, wrong = _parameters(table)
    known = replace(variables, parameters={**parameters, **at_start})
    filled, unset = interpolate(table, known)
    node = without(filled, lambda key: key == "parameters") if isinstance(filled, Table) else None
    return Assembled(node, (*importing.problems, *wrong, *unset), known, environment, table)


def _environment_of(table: Table | None, variables: Variables) -> str:
    written = table.entries.get("environment") if table is not None else None
    if written is None:
        return DEFAULT_ENVIRONMENT
    filled, _ = interpolate(Table({"environment": written}, written.place), variables)
    value = plain(filled).get("environment")
    return value if isinstance(value, str) and value else DEFAULT_ENVIRONMENT


def _parameters(table: Table) -> tuple[Mapping[str, Node], list[Problem]]:
    node = table.entries.get("parameters")
    if node is None or (isinstance(node, Leaf) and node.value is None):
        return {}, []
    if not isinstance(node, Table):
        text = f'"parameters" must be a mapping, not {described(plain(node))}.'
        return {}, [Problem(table.keys.get("parameters", node.place), "wrong-type", text, "write `name: value` lines")]
    wrong = [
        Problem(
            node.keys.get(name, node.place), "bad-value", f"The parameter {quoted(name)} is given; it cannot be set."
        )
        for name in GIVEN
        if name in node.entries
    ]
    return node.entries, wrong
