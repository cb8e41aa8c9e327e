"""The pydantic schemas of our values, for the classes that define them.

Pydantic asks a class for `__get_pydantic_core_schema__`. Only the client and the service load
pydantic, and nothing here does before it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints


def converted_schema(known: Any, load: Callable[[Any], Any], dump: Callable[[Any], Any]) -> Any:
    """The schema of a type whose values are written in the form of the schema `known`."""
    from pydantic_core import core_schema

    return core_schema.no_info_after_validator_function(
        load,
        known,
        serialization=core_schema.plain_serializer_function_ser_schema(dump, return_schema=known),
    )


def object_schema(kind: Any, handler: Any) -> Any:
    """A named tuple as an object with the names of its fields. Pydantic would write a list."""
    from pydantic_core import core_schema

    known = core_schema.typed_dict_schema(
        {
            name: core_schema.typed_dict_field(
                handler.generate_schema(hint), required=name not in kind._field_defaults
            )
            for name, hint in get_type_hints(kind).items()
        }
    )
    return converted_schema(known, lambda given: kind(**given), lambda value: value._asdict())
