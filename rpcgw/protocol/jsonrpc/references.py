"""`@FROM:id(field)`: parameters of a batch's item that are taken from another item's result. Pure.

A parameter whose whole value is such a string stands for one member of the result of the request of that id,
`@FROM:id()` for the whole result. Only the parameters themselves are looked at, never what is inside of them, and what
has been put in is never read as a reference again. The marker is read in any case; ids and fields are letters, digits,
`_` and `-`. Outside of a batch it is a string like any other. Source: the original bundle's batches.

Everything that can be wrong with references is found before anything runs, but for what only results can tell.
Requests of the same id are answered each on its own; a reference to such an id is refused, since nobody can say which
one it means. A notification may refer to others, but has no id that others could refer to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from rpcgw.api.errors import BatchError, InvalidParams, InvalidRequest, RpcError
from rpcgw.kernel.call import Done, Outcome
from rpcgw.kernel.codec import NotJson, decode
from rpcgw.kernel.language import Phrase
from rpcgw.protocol.jsonrpc.envelope import Fault, Request

_PREFIX: Final = "@FROM:"
_FORM: Final = re.compile(r"@from:([\w-]+)\(([\w-]*)\)", re.IGNORECASE)
_MALFORMED: Final = Phrase("reference.malformed")

_NOWHERE: Final = Phrase("reference.nowhere")
_TWICE: Final = Phrase("reference.twice")
_CIRCLE: Final = Phrase("reference.circle")

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])

Name = str | int
"""A parameter: its name, or its position."""

Errors = dict[str, list[str]]


class Reference(msgspec.Struct, frozen=True):
    """What a parameter stands for; `parent` is the other item's place in the batch, an empty `field` the whole."""

    param: Name
    parent: int
    parent_id: str
    field: str

    def wrong(self, text: Phrase) -> Phrase:
        """What is wrong with it, in words that name the parameter, the field and the parent."""
        return _wrong(self.param, self.parent_id, self.field, text)


class Planned(msgspec.Struct, frozen=True):
    """What an item of a batch waits for, or the error that keeps it from running."""

    references: tuple[Reference, ...] = ()
    refused: RpcError | None = None

    @property
    def parents(self) -> frozenset[int]:
        """The places of the items that it waits for."""
        return frozenset(reference.parent for reference in self.references)


FREE: Final = Planned()
"""Waits for nothing, as nearly every item of a batch."""


def plan(items: Sequence[Request | Fault]) -> list[Planned]:
    """What each item of a batch waits for, in the batch's order."""
    marked = {place: found for place, item in enumerate(items) if (found := list(_marked(item)))}
    if not marked:
        return [FREE] * len(items)
    places = _places(items)
    planned = [_read(marked[place], places) if place in marked else FREE for place in range(len(items))]
    circle = _circle({place: planned[place].parents for place in marked})
    for place in circle:
        planned[place] = _refuse_circle(planned[place], circle)
    return planned


def fill_in(
    request: Request, references: Iterable[Reference], outcomes: Mapping[int, Outcome], room: int
) -> Request | RpcError:
    """The request with its references replaced by what the outcomes hold, or the error that names what is missing.

    `room` is how many bytes all of it may have together: references multiply what they refer to.
    """
    values: dict[Name, Any] = {}
    opened: dict[int, Mapping[str, msgspec.Raw]] = {}
    for reference in references:
        parent = reference.parent
        outcome = outcomes.get(parent)
        if not isinstance(outcome, Done):
            return InvalidRequest(reference.wrong(Phrase("reference.failed")))
        if reference.field and parent not in opened:
            opened[parent] = _opened(outcome.encoded)
        part = opened[parent].get(reference.field) if reference.field else outcome.encoded
        if part is None:
            return InvalidRequest(reference.wrong(Phrase("reference.no_field")))
        room -= len(part)
        if room < 0:
            return InvalidRequest(reference.wrong(Phrase("reference.too_much")))
        try:
            values[reference.param] = decode(bytes(part))
        except NotJson as error:
            return InvalidRequest(reference.wrong(Phrase("reference.no_parameter", reason=error.reason)))
    return msgspec.structs.replace(request, params=_replaced(request.params, values))


def _marked(item: Request | Fault) -> Iterator[tuple[Name, str]]:
    """The parameters that are references, well written or not."""
    params = item.params if isinstance(item, Request) else None
    pairs = params.items() if isinstance(params, dict) else enumerate(params or ())
    for name, value in pairs:
        if type(value) is str and value[:1] == "@" and value[: len(_PREFIX)].upper() == _PREFIX:
            yield name, value


def _places(items: Iterable[Request | Fault]) -> dict[str, list[int]]:
    """Where the requests of each id stand; a reference does not tell 1 from "1"."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if item.id is not None:
            places.setdefault(str(item.id), []).append(place)
    return places


def _read(marked: Iterable[tuple[Name, str]], places: Mapping[str, list[int]]) -> Planned:
    references: list[Reference] = []
    malformed: Errors = {}
    lost: Errors = {}
    for param, value in marked:
        form = _FORM.fullmatch(value)
        if form is None:
            malformed[str(param)] = [_about(param, _MALFORMED)]
            continue
        parent_id, field = form.groups()
        found = places.get(parent_id, [])
        if len(found) == 1:
            references.append(Reference(param, found[0], parent_id, field))
        else:
            lost[str(param)] = [_wrong(param, parent_id, field, _TWICE if found else _NOWHERE)]
    if malformed:
        return _refused(InvalidParams, malformed | lost)
    return _refused(InvalidRequest, lost) if lost else Planned(tuple(references))


def _refuse_circle(planned: Planned, circle: Collection[int]) -> Planned:
    return _refused(
        BatchError,
        {
            str(reference.param): [reference.wrong(_CIRCLE)]
            for reference in planned.references
            if reference.parent in circle
        },
    )


def _refused(kind: type[RpcError], errors: Errors) -> Planned:
    return Planned(refused=kind(next(iter(errors.values()))[0], extra=errors))


def _circle(waits: Mapping[int, frozenset[int]]) -> set[int]:
    """Those that wait for each other: what is left when who waits for nobody, or is waited for by nobody, has gone."""
    left = set(waits)
    while True:
        awaited = {parent for place in left for parent in waits[place]}
        kept = {place for place in left if place in awaited and not waits[place].isdisjoint(left)}
        if kept == left:
            return left
        left = kept


def _opened(encoded: bytes) -> Mapping[str, msgspec.Raw]:
    """The members of a result; none where it is no object."""
    try:
        return _members.decode(encoded)
    except (msgspec.DecodeError, RecursionError):
        return {}


def _replaced(params: dict[str, Any] | list[Any] | None, values: Mapping[Name, Any]) -> dict[str, Any] | list[Any]:
    if isinstance(params, dict):
        return {name: values.get(name, value) for name, value in params.items()}
    return [values.get(position, value) for position, value in enumerate(params or ())]


def _wrong(param: Name, parent_id: str, field: str, text: Phrase) -> Phrase:
    if field:
        return _about(param, Phrase("error.reference_field", field=field, parent=parent_id, what=text))
    return _about(param, Phrase("error.reference", parent=parent_id, what=text))


def _about(param: Name, text: Phrase) -> Phrase:
    return Phrase("error.parameter", param=param if isinstance(param, int) else f'"{param}"', what=text)
