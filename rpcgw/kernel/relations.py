"""Which kept results a success makes stale: the marks of `@rpc.invalidates` and `@rpc.cache(by=...)`, made ready. Pure.

Results of a method can be dropped all at once, or by the values of some of its parameters. For the latter every entry
carries a *tag* for each set of parameters that anybody drops by; the sets are known once all methods are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rpcgw.api.marks import Relation
from rpcgw.api.problems import Problem
from rpcgw.api.records import record
from rpcgw.kernel.keys import canonical, digest
from rpcgw.kernel.method import Method

Names = tuple[str, ...]


@record(frozen=True, slots=True)
class Tag:
    """A set of a cached method's parameters, by whose values its results can be dropped; the names are sorted."""

    method: Method
    names: Names

    def key(self, values: Mapping[str, Any]) -> str:
        """What results for these values share. Values that a type does not tell apart have one key.

        Raises:
            NoJsonForm: A value cannot be written.
        """
        normal = self.method.arguments.normal
        return digest(canonical([self.names, [normal(name, values[name]) for name in self.names]]))


@record(frozen=True, slots=True)
class Drop:
    """What a success drops of one method: everything, or by `tag` what was kept for the values of `pairs`.

    `pairs` says for each parameter of the tag which parameter of the marked method has its value; None stands for the
    cached method's own default.
    """

    method: str
    tag: Tag | None = None
    pairs: tuple[tuple[str, str | None], ...] = ()

    def key(self, given: Mapping[str, Any]) -> str | None:
        """The tag's key for the marked method's parameters, defaults included; None where everything goes."""
        if self.tag is None:
            return None
        defaults = self.tag.method.defaults
        return self.tag.key({name: given[own] if own is not None else defaults[name] for name, own in self.pairs})


@record(frozen=True, slots=True)
class WarmUp:
    """A method whose results are made anew: `pairs` where parameters of the two go by different names."""

    method: str
    pairs: tuple[tuple[str, str], ...] = ()

    def params(self, target: Method, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of the call that does it: what both methods have."""
        own = {param.name: param.name for param in target.signature.params} | dict(self.pairs)
        return {name: given[theirs] for name, theirs in own.items() if theirs in given}


class Relations:
    """Who drops what, over all methods of a table."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._cached: dict[str, list[Method]] = {}
        everything = list(dict.fromkeys(methods))
        for method in everything:
            if method.cache is not None:
                self._cached.setdefault(method.name, []).append(method)
        self._sets: dict[int, set[Names]] = {}
        for method in everything:
            if method.cache is not None and method.cache.by:
                self._note(Tag(method, tuple(sorted(method.cache.by))))
            for drop in self.drops(method):
                if drop.tag is not None:
                    self._note(drop.tag)

    def tags(self, method: Method) -> tuple[Tag, ...]:
        """All sets of parameters by which a method's results are dropped."""
        return tuple(Tag(method, names) for names in sorted(self._sets.get(id(method), ())))

    def drops(self, method: Method) -> tuple[Drop, ...]:
        """What a success of a method drops; of a name in several versions, the results of each."""
        return tuple(dict.fromkeys(drop for relation in _relations(method) for drop in self._dropped(method, relation)))

    def warm_ups(self, method: Method) -> tuple[WarmUp, ...]:
        """What is made anew after a success of a method."""
        return tuple(
            WarmUp(name, relation.by)
            for relation in _relations(method)
            if relation.warm_up
            for name in self._named(relation)
        )

    def _note(self, tag: Tag) -> None:
        self._sets.setdefault(id(tag.method), set()).add(tag.names)

    def _named(self, relation: Relation) -> Iterator[str]:
        for name in relation.methods:
            if name.endswith(".*"):
                yield from (known for known in self._cached if known.startswith(name[:-1]))
            elif name in self._cached:
                yield name

    def _dropped(self, method: Method, relation: Relation) -> Iterator[Drop]:
        for name in self._named(relation):
            if not relation.by and not relation.exact:
                yield Drop(name)
                continue
            for target in self._cached[name]:
                pairs = _pairs(method, target, relation)
                yield Drop(name, Tag(target, tuple(sorted(theirs for theirs, _ in pairs))), pairs)


def chosen(tags: Mapping[Method, Sequence[Tag]], params: Mapping[str, object] | None) -> list[Drop]:
    """What is dropped of methods by hand: by a tag where these parameters are one, else everything.

    Raises:
        LookupError: None of the methods has a parameter of a name.
    """
    wanted = tuple(sorted(params or ()))
    known = {name for method in tags for name in _params(method)}
    if unknown := [name for name in wanted if name not in known]:
        method = next(iter(tags)).name
        raise LookupError(f"{method} has no parameter {unknown[0]!r}; it has: {', '.join(sorted(known)) or 'none'}")
    pairs = tuple((name, name) for name in wanted)
    drops = [Drop(method.name, tag, pairs) for method, own in tags.items() for tag in own if tag.names == wanted]
    whole = [Drop(method.name) for method in tags][:1]
    return drops if wanted and len(drops) == len(tags) else whole


def relation_problems(methods: Iterable[Method]) -> list[Problem]:
    """What is wrong with the parameters that marks name; the methods that they name are known to exist."""
    everything = list(dict.fromkeys(methods))
    problems: list[Problem] = []
    for method in everything:
        known = _params(method)
        if method.cache is not None and (unknown := [name for name in method.cache.by if name not in known]):
            text = f"{method.name}: @rpc.cache(by=...) names {unknown[0]!r}, which is no parameter of it"
            problems.append(Problem(method.place, "cache-by", text, f"parameters: {', '.join(known) or 'none'}"))
        for relation in _relations(method):
            problems += [
                Problem(method.place, "invalidates", f"{method.name}: @rpc.invalidates {text}")
                for target in everything
                if target.cache is not None and any(_means(name, target.name) for name in relation.methods)
                for text in _wrong(method, target, relation)
            ]
    return problems


def _wrong(method: Method, target: Method, relation: Relation) -> Iterator[str]:
    own, theirs = _params(method), _params(target)
    for name, mine in relation.by:
        if name not in theirs:
            yield f"goes by {name!r}, which is no parameter of {target.name} in version {target.version}"
        elif mine not in own:
            yield f"goes by {mine!r}, which is no parameter of {method.name} itself"
    if relation.exact:
        lacking = [p.name for p in target.signature.params if p.required and p.name not in own]
        if lacking:
            yield f"is exact, and {target.name} needs {lacking[0]!r}, which {method.name} does not have"


def _pairs(method: Method, target: Method, relation: Relation) -> tuple[tuple[str, str | None], ...]:
    if not relation.exact:
        return relation.by
    own = _params(method)
    return tuple((name, name if name in own else None) for name in _params(target))


def _means(written: str, name: str) -> bool:
    return name.startswith(written[:-1]) if written.endswith(".*") else name == written


def _relations(method: Method) -> Sequence[Relation]:
    return method.invalidates.relations if method.invalidates else ()


def _params(method: Method) -> list[str]:
    return [param.name for param in method.signature.params]
