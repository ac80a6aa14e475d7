"""Names of components: the shortest that are unique among those that stand together. Pure.

A component is the description of one class, once as it comes in and, where that differs, once as it goes out. In an
OpenRPC document names become classes of generated clients; in a tool they are local, so that installing another plugin
never changes a tool's bytes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from rpcgw.api.records import record
from rpcgw.kernel.rewrite import COMPONENTS, JsonSchema, references, rewrite

_ID = re.compile(r":\d+")
_PATH = re.compile(r"(?:[^.\[\],]+\.)+")
_OTHER = re.compile(r"\W+")


@record(frozen=True, slots=True)
class Component:
    """One component: its schema, the class that it describes, and the components that it refers to.

    `origin` is where the class comes from; `short` is its own name with those of its type arguments (`Page_Product`),
    `qualified` the same with its module.
    """

    schema: JsonSchema
    origin: str
    short: str
    qualified: str
    output: bool
    refers: frozenset[str]


def component(schema: JsonSchema, origin: str, *, output: bool) -> Component:
    """A component from its schema, pydantic's reference to its class, and whether it is about what goes out.

    A reference is `module.Class:id`, with those of type arguments in brackets.
    """
    plain = _ID.sub("", origin)
    return Component(
        schema=schema,
        origin=origin,
        short=identifier(_PATH.sub("", plain)),
        qualified=identifier(plain.replace("<locals>", "")),
        output=output,
        refers=frozenset(references(schema)),
    )


def equal_outputs(components: Mapping[str, Component]) -> dict[str, str]:
    """Classes that go out as they come in: the key of the outgoing form -> the key of the incoming one.

    Schemas that refer to each other are equal together: all pairs are taken for equal until one proves not to be.
    """
    inputs = {made.origin: key for key, made in components.items() if not made.output}
    pairs = {key: inputs[made.origin] for key, made in components.items() if made.output and made.origin in inputs}
    while True:
        differing = [
            output
            for output, key in pairs.items()
            if redirected(components[output].schema, pairs) != redirected(components[key].schema, pairs)
        ]
        if not differing:
            return pairs
        for output in differing:
            del pairs[output]


def redirected(schema: JsonSchema, keys: Mapping[str, str]) -> JsonSchema:
    """A schema whose references, those of discriminators included, go where `keys` says."""

    def to(reference: str) -> str:
        key = reference.removeprefix(COMPONENTS)
        return COMPONENTS + keys.get(key, key)

    def redirect(part: JsonSchema) -> JsonSchema:
        if "$ref" in part:
            part["$ref"] = to(part["$ref"])
        discriminator = part.get("discriminator", {})
        if "mapping" in discriminator:
            tags = {tag: to(reference) for tag, reference in discriminator["mapping"].items()}
            part["discriminator"] = {**discriminator, "mapping": tags}
        return part

    changed: JsonSchema = rewrite(schema, redirect)
    return changed


def reached(schema: JsonSchema, components: Mapping[str, Component]) -> set[str]:
    """The components that a schema refers to, directly or through others."""
    found: set[str] = set()
    todo = list(references(schema))
    while todo:
        key = todo.pop()
        if key not in found:
            found.add(key)
            todo.extend(components[key].refers)
    return found


def names_of(keys: Collection[str], components: Mapping[str, Component]) -> dict[str, str]:
    """A name for each of these components.

    `Product`; `ProductOutput` where a class goes out otherwise than it comes in; `acme_catalog_Product` for each of
    several classes with one short name.
    """
    by_short: defaultdict[str, list[str]] = defaultdict(list)
    for key in sorted(keys):
        by_short[components[key].short].append(key)
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for short, group in sorted(by_short.items()):
        several = len({components[key].origin for key in group}) > 1
        inputs = {components[key].origin for key in group if not components[key].output}
        for key in group:
            made = components[key]
            name = made.qualified if several else short
            if made.output and made.origin in inputs:
                name += "Output"
            taken[name] += 1
            names[key] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return names


def identifier(text: str) -> str:
    """A text with everything that no identifier may hold made into underscores."""
    return _OTHER.sub("_", text).strip("_")
