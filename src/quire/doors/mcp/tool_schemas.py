"""The JSON schemas of tools, as small as they can be: an agent pays for every character, each time.

They are made from the types of verbs/arguments.py. What is checked here anyway, and what only says that
a thing may be left out, is not in them.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import msgspec

from ...verbs.arguments import VerbArguments

Schema: TypeAlias = dict[str, Any]

_REFERENCE = "#/$defs/"
# Titles repeat names; lengths, patterns and the table of tags are for whoever checks, and that is the server.
_LEFT_OUT = ("title", "discriminator", "additionalProperties", "minLength", "maxLength", "pattern", "maxItems")
_SAYS_NOTHING: tuple[Any, ...] = (None, (), [], "", False)


def schema_of(kind: type[VerbArguments]) -> Schema:
    """The schema of a tool's arguments."""
    whole = msgspec.json.schema(kind)
    known: dict[str, Schema] = whole["$defs"]
    made = _slim(known[whole["$ref"].removeprefix(_REFERENCE)], known)
    made.pop("description", None)  # the tool has one
    return made


def _slim(schema: Schema, known: dict[str, Schema]) -> Schema:
    if "$ref" in schema:
        return _slim(known[schema["$ref"].removeprefix(_REFERENCE)], known)
    made = {name: value for name, value in schema.items() if name not in _LEFT_OUT}
    if "default" in made and made["default"] in _SAYS_NOTHING:
        del made["default"]
    if "properties" in made:
        made["properties"] = {name: _slim(each, known) for name, each in made["properties"].items()}
    if isinstance(made.get("items"), dict):
        made["items"] = _slim(made["items"], known)
    if "anyOf" in made:
        made |= _either(made.pop("anyOf"), known)
    return _constant(made)


def _either(choices: list[Schema], known: dict[str, Schema]) -> Schema:
    """One of several; that it may be null, too, goes without saying: it may be left out."""
    left = [_slim(each, known) for each in choices if each != {"type": "null"}]
    return left[0] if len(left) == 1 else {"anyOf": left}


def _constant(schema: Schema) -> Schema:
    match schema:
        case {"enum": [only]}:
            return {"const": only}
        case {"enum": [*values]} if all(isinstance(each, str) for each in values):
            return {"type": "string", **schema}
        case _:
            return schema


def fields_of(schema: Schema) -> dict[str, list[Any]]:
    """The names of the arguments, those of parts included, each with the values that it is limited to."""
    found: dict[str, list[Any]] = {}
    for name, each in cast("dict[str, Schema]", schema.get("properties", {})).items():
        found.setdefault(name, []).extend(_choices(each))
        found |= {other: values for other, values in fields_of(each).items() if other not in found}
    for each in _parts(schema):
        for name, values in fields_of(each).items():
            found.setdefault(name, []).extend(values)
    return {name: list(dict.fromkeys(values)) for name, values in found.items()}


def _choices(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    return [*schema.get("enum", ()), *(value for each in schema.get("anyOf", ()) for value in _choices(each))]


def _parts(schema: Schema) -> list[Schema]:
    return [each for each in (schema.get("items"), *schema.get("anyOf", ())) if each is not None]
