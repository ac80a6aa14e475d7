"""Types that JSON cannot say, and how a plugin converts them: `Plugin(converters=[...])`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rpcgw.api.marks import put_mark
from rpcgw.api.records import record

_Marked = TypeVar("_Marked", bound=Callable[..., Any])


@record(frozen=True)
class Converter:
    """How values of one class come from JSON and go back. Pure functions: nothing may be awaited or looked up.

        rpc.Converter(Money, wire=str, load=Money.parse, dump=str)

    Once a plugin brings it, it holds wherever the class is named in a parameter or a result, nested ones included. In a
    field of a pydantic model, which pydantic reads on its own, write `Annotated[Money, converter]`.

    Args:
        kind: The class.
        wire: The type of the JSON form; it may carry rules: `Annotated[str, rpc.Regex("^[A-Z]{3} ")]`.
        load: Makes a value of the JSON form; what it raises as `ValueError` is told to the caller.
        dump: Makes the JSON form of a value.
    """

    kind: type
    wire: Any
    load: Callable[[Any], Any]
    dump: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        del source
        return self.core_of(handler.generate_schema(self.wire))

    def core_of(self, wire: Any) -> Any:
        """The conversion as pydantic's core wants it, around the schema of the wire's type."""
        from pydantic_core import core_schema  # noqa: PLC0415 -- a plugin that is only imported pays nothing for it

        loading = core_schema.no_info_after_validator_function(Loading(self.load), wire)
        return core_schema.json_or_python_schema(
            json_schema=loading,
            # A model that is made in Python takes the value itself.
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(self.kind), loading]),
            serialization=core_schema.plain_serializer_function_ser_schema(self.dump, return_schema=wire),
        )


@record(frozen=True)
class Loading:
    """A converter's `load`, which may fail in the ways that parsing code fails."""

    load: Callable[[Any], Any]

    def __call__(self, value: Any) -> Any:
        """The value of a JSON form."""
        try:
            return self.load(value)
        except ValueError:
            raise
        except (ArithmeticError, LookupError, TypeError) as error:
            raise ValueError("cannot be read") from error


@record(frozen=True, slots=True)
class Resolver:
    """`@rpc.resolver`: a function that finds an object by its id."""

    kind: type
    by: Any
    dump: Callable[[Any], Any] | None = None


def resolver(kind: type, *, by: Any, dump: Callable[[Any], Any] | None = None) -> Callable[[_Marked], _Marked]:
    """Let a function, sync or async, turn an id into an object wherever a parameter is of the class `kind`.

        @rpc.resolver(User, by=int)
        async def find_user(id: int, store: Store) -> User | None: ...

    Its first parameter gets the id; the others are filled, by their types, with what the plugin's lifespan yields.
    Callers send the id alone. None is "not found": the parameter is then None where its type allows it, else the call
    is refused. It runs after conversion and before `rpc.pre_execute`, once for each distinct id of a call.

    Args:
        kind: The class.
        by: The type of the id.
        dump: Makes the id of an object, for results; where None, results show the object as its class says.
    """

    def mark(function: _Marked) -> _Marked:
        put_mark(function, Resolver(kind, by, dump))
        return function

    return mark
