"""Versions within groups: what each version inherits, replaces and removes (C-20). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rpcgw.api.problems import Problem
from rpcgw.kernel.exposure import Exposed, Exposure
from rpcgw.kernel.signature import place_of

Arrangement = Mapping[str, Mapping[int, Mapping[str, Exposed]]]
"""Group -> version -> name -> method."""


def arrange(exposures: Sequence[Exposure]) -> tuple[Arrangement, list[Problem]]:
    """The methods of each group in each version that some procedure of the group declares.

    A version starts as the one before it in its group, takes its own methods, then loses what it removes; what was
    removed stays away until a later version has it again. Versions without any method are left out.
    """
    problems: list[Problem] = []
    arranged: dict[str, dict[int, dict[str, Exposed]]] = {}
    for group in sorted({group for exposure in exposures for group in exposure.groups}):
        members = [exposure for exposure in exposures if group in exposure.groups]
        arranged[group] = {version: names for version, names in _chain(group, members, problems) if names}
    _check_removals(exposures, problems)
    return {group: versions for group, versions in arranged.items() if versions}, list(dict.fromkeys(problems))


def _chain(
    group: str, members: Sequence[Exposure], problems: list[Problem]
) -> Iterator[tuple[int, dict[str, Exposed]]]:
    current: dict[str, Exposed] = {}
    for version in sorted({exposure.version for exposure in members}):
        own = [exposure for exposure in members if exposure.version == version]
        current = current | _distinct(group, own, problems)
        removed = {name for exposure in own for name in exposure.removed}
        current = {name: method for name, method in sorted(current.items()) if name not in removed}
        yield version, current


def _distinct(group: str, exposures: Sequence[Exposure], problems: list[Problem]) -> dict[str, Exposed]:
    by_name: defaultdict[str, list[Exposed]] = defaultdict(list)
    for exposure in exposures:
        for method in exposure.methods:
            if group in method.groups:
                by_name[method.name].append(method)
    return {name: _only(methods, problems) for name, methods in by_name.items()}


def _only(methods: Sequence[Exposed], problems: list[Problem]) -> Exposed:
    """The one method of a name; of several, that of the class which derives from all the others."""
    classes = [method.registration.cls for method in methods]
    for method in methods:
        cls = method.registration.cls
        if classes.count(cls) == 1 and all(issubclass(cls, other) for other in classes):
            return method
    first, *others = sorted(methods, key=lambda method: place_of(method.registration.cls))
    problems.extend(_duplicate(other, first) for other in others)
    return first


def _duplicate(method: Exposed, first: Exposed) -> Problem:
    where = f"{first.registration.cls.__qualname__} at {place_of(first.registration.cls)}"
    whose = f" of plugin {first.registration.plugin!r}" if first.registration.plugin else ""
    return Problem(
        place_of(method.registration.cls),
        "duplicate",
        f"{method.name}: version {method.version} is also defined by {where}{whose}",
        "rename one of them, or give one of the procedures another alias, version or group",
    )


def _check_removals(exposures: Iterable[Exposure], problems: list[Problem]) -> None:
    exposures = list(exposures)
    for exposure in exposures:
        earlier = {m.name for other in exposures if other.version < exposure.version for m in other.methods}
        for name in exposure.removed:
            if name not in earlier:
                text = f"{name}: version {exposure.version} removes it, and no earlier version has it"
                place = place_of(exposure.registration.cls)
                problems.append(Problem(place, "removed", text, "`removed` takes bare method names", "warning"))
