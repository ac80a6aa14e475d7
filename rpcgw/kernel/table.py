"""The method table: which methods each group has in each version. Built once from the plugins' procedures; frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rpcgw.api.problems import Problem
from rpcgw.kernel.method import Method


@dataclass(frozen=True, slots=True)
class Registration:
    """A procedure that a plugin brings: a class marked with `@rpc.procedure`, or an instance of one."""

    procedure: type | object
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class MethodTable:
    """Methods by group and version; a version that a group lacks is absent (C-20)."""

    by_group: Mapping[str, Mapping[int, Mapping[str, Method]]]
    schemas: Mapping[str, bytes] = field(default_factory=dict)
    """Every component of the compile by its name, as JSON."""

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups that have a method, sorted."""
        return tuple(sorted(self.by_group))

    def versions(self, group: str) -> tuple[int, ...]:
        """The versions that a group has, ascending; empty where there is no such group."""
        return tuple(sorted(self.by_group.get(group, ())))

    def methods(self, group: str, version: int) -> Mapping[str, Method] | None:
        """The methods of a group in a version by name, sorted; None where the group lacks the version."""
        return self.by_group.get(group, {}).get(version)

    def components(self, group: str, version: int) -> dict[str, Any]:
        """`components.schemas` of the OpenRPC document: what the group's methods refer to, directly or not."""
        raise NotImplementedError


def compile_methods(registrations: Sequence[Registration]) -> tuple[MethodTable, list[Problem]]:
    """Compile every exposed method once and arrange them by group and version.

    Nothing is raised for what an author did wrong: the problems say it, sorted by place.
    """
    raise NotImplementedError
