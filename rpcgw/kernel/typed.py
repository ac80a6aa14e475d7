"""A plain JSON value as an instance of a type that an author names: a plugin's settings. Pure."""

from __future__ import annotations

from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from rpcgw.kernel.codec import encode


class Mismatch(Exception):
    """The value does not fit; `errors` says why, by path."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors = errors
        super().__init__(str(errors))


def typed(kind: Any, value: object) -> Any:
    """The value as a `kind`: a dataclass, TypedDict, pydantic model, or anything else that pydantic describes.

    Raises:
        Mismatch: It does not fit, or the type cannot be described.
    """
    try:
        return TypeAdapter(kind).validate_json(encode(value), strict=True)
    except PydanticUserError as error:
        raise Mismatch({"": [f"cannot be checked: {str(error).splitlines()[0]}"]}) from None
    except ValidationError as error:
        found: dict[str, list[str]] = {}
        for fault in error.errors(include_url=False, include_input=False):
            found.setdefault(_path(fault["loc"]), []).append(fault["msg"])
        raise Mismatch(found) from None


def _path(steps: tuple[int | str, ...]) -> str:
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
