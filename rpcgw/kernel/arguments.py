"""How one method's raw arguments become the values that its procedure takes. Pure but for the author's validators."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from rpcgw.kernel.codec import NoJsonForm, NotJson, decode, encode
from rpcgw.kernel.conversion import Codec
from rpcgw.kernel.messages import MESSAGES, Errors, Texts
from rpcgw.kernel.substitution import Resolution

_UNCHANGING = (int, float, str, bytes, NoneType, Enum, date, time, timedelta, Decimal, UUID)


class Refused(Exception):
    """Values that fit the schema and are refused all the same; `errors` says why, by path."""

    def __init__(self, errors: Errors) -> None:
        self.errors = errors
        super().__init__(errors)


class Arguments:
    """The parameters of one method.

    `gated` says that the schema which arguments have passed was made from these very types: plain ones are then taken
    as they are. Behind a schema that the author wrote by hand every value is converted.
    """

    def __init__(self, codecs: Mapping[str, Codec], defaults: Mapping[str, Any], *, gated: bool = True) -> None:
        self.gated = gated
        self._explaining = tuple((n, c) for n, c in codecs.items() if not c.authored and not (gated and c.plain))
        self._codecs = dict(codecs)
        self._defaults = dict(defaults)
        self._changing = tuple(name for name, value in defaults.items() if not _is_unchanging(value))
        self._converted = tuple((name, codec) for name, codec in codecs.items() if not (gated and codec.plain))
        self._ints = tuple(name for name, codec in codecs.items() if codec.number is int and gated)
        self.resolving = any(codec.resolving for codec in codecs.values())
        """Whether objects have to be looked up for a call."""
        self._mends = {name: codec.leniency for name, codec in codecs.items() if codec.leniency is not None}
        self.lenient = bool(self._mends)
        """Whether a lenient surface takes more than what is advertised."""
        self._floats = tuple(name for name, codec in codecs.items() if codec.number is float and gated)

    def mend(self, arguments: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
        """Arguments with the refused ones in their advertised forms, as far as there is one."""
        return {
            name: self._mends[name](value) if name in refused and name in self._mends else value
            for name, value in arguments.items()
        }

    def convert(
        self,
        arguments: dict[str, Any],
        resolution: Resolution | None = None,
        texts: Texts = MESSAGES,
    ) -> dict[str, Any]:
        """Values by name, defaults filled in; a default that could be changed is a copy.

        Raises:
            Refused: With every refusal, not only the first.
        """
        values = {**self._defaults, **arguments}
        for name in self._ints:
            if type(values[name]) is float:
                values[name] = int(values[name])
        errors: Errors = {}
        for name in self._floats:
            if type(values[name]) is int:
                _widen(name, values, errors, texts)
        for name in self._changing:
            if name not in arguments:
                values[name] = copy.deepcopy(values[name])
        for name, codec in self._converted:
            if name in arguments:
                _convert(name, codec, values, resolution, (errors, texts))
        if errors:
            raise Refused(errors)
        return values

    def normal(self, name: str, value: Any) -> Any:
        """A parameter's raw value in the one JSON form that stands for all: a UUID in small letters, 1 for 1.0.

        Runs none of the author's code. A value that its type refuses stays as it is.
        """
        codec = self._codecs[name]
        if not (codec.plain or codec.authored):
            try:
                value = decode(encode(codec.convert(value)))
            except (ValidationError, NoJsonForm, NotJson):
                return value
        return _whole(value)

    def explain(self, arguments: dict[str, Any], names: Collection[str] | None, texts: Texts) -> Errors:
        """What the types say against the arguments of these names, or against all.

        Plain ones have nothing to say that the schema does not, and those whose check would run code of the author's
        are not asked.
        """
        errors: Errors = {}
        for name, codec in self._explaining:
            if name in arguments and (names is None or name in names):
                errors |= codec.explain(name, arguments[name], texts)
        return errors


def _convert(
    name: str, codec: Codec, values: dict[str, Any], resolution: Resolution | None, refusing: tuple[Errors, Texts]
) -> None:
    try:
        values[name] = codec.convert(values[name], resolution)
    except ValidationError as error:
        errors, texts = refusing
        errors |= codec.errors(name, values[name], error, texts)


def _whole(value: Any) -> Any:
    """The value with whole floats as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return value


def _widen(name: str, values: dict[str, Any], errors: Errors, texts: Texts) -> None:
    try:
        values[name] = float(values[name])
    except OverflowError:
        errors[name] = [texts["too_large"]]


def _is_unchanging(value: object) -> bool:
    return isinstance(value, _UNCHANGING) or (isinstance(value, tuple) and all(map(_is_unchanging, value)))
