"""Parameters: what a notebook takes, and how values are bound to it.

They are declared by the first code cell tagged `parameters` (its names, defaults and
comments), by `parameters` in the frontmatter or metadata, or by both. Nothing here knows a
file: whoever does puts its name in front of a message. docs/reference/parameters.md has
the rules.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from ..errors import BadInput
from ..ids import CellId, nearest
from ..sheet.sheet import Sheet, SheetCell, cell_language
from ..values import Json, tag, untag
from .param_types import ANY, SIMPLE, Misfit, Type, article, example, fit, from_text, guess, parse_type, type_of, union
from .python_source import NamedLiteral, names_in

TAG = "parameters"
"""The tag of the cell that declares, and the key in the metadata."""
REQUIRED = "..."
"""In the metadata, instead of a default: somebody has to give a value."""


class Parameter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A typed input of a notebook."""

    name: str
    type: str | None = None
    """As docs/reference/parameters.md writes types; None when nothing says it."""
    default: Json | UnsetType = UNSET
    """A tagged value; unset when it is required, or when only running the cell tells."""
    expression: str | None = None
    """The default as it is written, when it is no literal."""
    help: str = ""
    choices: tuple[Json, ...] | None = None
    """The only values that are allowed, tagged."""
    required: bool = False
    cell: CellId | None = None
    """Where it is declared; None for the frontmatter."""
    line: int | None = None
    """Its line in that cell, from 1."""

    @property
    def wanted(self) -> Type:
        """Its type, to compute with."""
        return (parse_type(self.type) if self.type else None) or ANY


class Text(str):
    """A value as somebody typed it: to be read as the declared type."""


class BoundParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Values for a notebook's parameters, each of its declared type."""

    values: dict[str, Any]
    """Of every parameter that has one: what was given, else the default."""
    given: dict[str, Any]
    """Only what was given."""
    declared: dict[str, Any]
    """As `values`, of declared parameters only: what `{name}` in a logbook stands for."""
    warnings: tuple[str, ...] = ()


# ---- What is declared


def declared(sheet: Sheet) -> list[Parameter]:
    """Return what a notebook takes: the frontmatter's first, then the tagged cell's. The frontmatter has the last word."""
    cell = tagged_cell(sheet)
    in_cell = {each.name: each for each in _in_cell(cell, sheet)} if cell is not None else {}
    front = [_declared_as(name, said, sheet.language) for name, said in _front(sheet).items()]
    merged = [_merged(each, in_cell.pop(each.name, None)) for each in front]
    return [*merged, *in_cell.values()]


def tagged_cell(sheet: Sheet) -> SheetCell | None:
    """The cell that declares parameters: the first code cell with the tag, as papermill has it."""
    return next((cell for cell in sheet.cells if TAG in cell.tags and cell.kind == "code"), None)


def declared_in_source(source: str, language: str = "python") -> list[Parameter]:
    """Return the parameters that the source of a tagged cell declares. Nothing is run."""
    return [_from_source(each) for each in names_in(source, language.lower())]


def _in_cell(cell: SheetCell, sheet: Sheet) -> list[Parameter]:
    try:
        found = declared_in_source(cell.source, cell_language(cell.metadata) or sheet.language)
    except BadInput as error:
        raise BadInput(f"The cell tagged `{TAG}` cannot be read: {error}", cell=cell.id, **error.details) from None
    return [msgspec.structs.replace(each, cell=cell.id) for each in found]


def _from_source(found: NamedLiteral) -> Parameter:
    wanted = parse_type(found.annotation) if found.annotation else None
    if wanted is None and found.choices:
        wanted = _type_of_all(found.choices)
    default: Json | UnsetType = UNSET
    expression = found.expression
    if found.known:
        wanted = wanted or type_of(found.value)
        default, expression = _default(found.value, wanted)
    return Parameter(
        name=found.name,
        type=str(wanted) if wanted not in (None, ANY) else None,
        default=default,
        expression=expression,
        help=found.help,
        choices=tuple(tag(each) for each in found.choices) if found.choices else None,
        required=not found.known and found.expression is None,
        line=found.line,
    )


def _default(value: Any, wanted: Type) -> tuple[Json | UnsetType, str | None]:
    """The default of a cell, tagged; as it is written, if it cannot be kept as a value."""
    # One that does not fit is left alone: the cell runs with it, and only what others give is held to the type.
    with suppress(Misfit):
        value = fit(value, wanted)
    try:
        return tag(value), None
    except BadInput:
        return UNSET, repr(value)


def _type_of_all(values: Iterable[Any]) -> Type | None:
    """The one type that all values have."""
    found = union([type_of(value) if value is not None else Type("None") for value in values])
    return found if "any" not in str(found) else None


def _front(sheet: Sheet) -> dict[str, Json]:
    said: Any = sheet.ours.get(TAG, {})
    if said is None or said == REQUIRED:
        return {}
    if not isinstance(said, dict):
        raise BadInput(f"`{TAG}` has no names: write a `name: default` line for each.")
    return cast("dict[str, Json]", said)


# ---- One declaration of the frontmatter

_FIELDS = ("type", "default", "help", "choices", "required")


def _declared_as(name: str, said: Json, language: str) -> Parameter:
    if not name.isidentifier():
        raise BadInput(f"parameter {name!r}: a name is letters, digits and _, and does not begin with a digit.")
    if keyword.iskeyword(name) and language == "python":
        raise BadInput(f"parameter {name!r} is a word of Python's own. Choose another name.")
    if said == REQUIRED:
        return Parameter(name=name, required=True)
    if isinstance(said, dict) and not _is_tagged(cast("dict[str, Json]", said)):
        return _Declaration(name, cast("dict[str, Json]", said)).parameter()
    value = _untagged(name, said)
    wanted = type_of(value)
    return Parameter(name=name, type=None if wanted == ANY else str(wanted), default=tag(value))


def _untagged(name: str, said: Json) -> Any:
    try:
        return untag(said)
    except BadInput as error:
        raise BadInput(f"parameter {name!r}: {error}", parameter=name) from None


def _is_tagged(said: dict[str, Json]) -> bool:
    return len(said) == 1 and next(iter(said)).startswith("$")


class _Declaration:
    """The long form: an object with type, default, help, choices and required."""

    def __init__(self, name: str, said: dict[str, Json]) -> None:
        self._name = name
        self._said = said
        unknown = [key for key in said if key not in _FIELDS]
        if unknown or not said:
            fault = f"{unknown[0]!r} is no part of a declaration" if unknown else "an empty object declares nothing"
            raise self._wrong(f"{fault}: {', '.join(_FIELDS)} are. A default that is an object goes under `default`.")

    def _wrong(self, fault: str) -> BadInput:
        return BadInput(f"parameter {self._name!r}: {fault}", parameter=self._name)

    def parameter(self) -> Parameter:
        choices = self._choices()
        has_default = "default" in self._said and self._said["default"] != REQUIRED
        wanted = self._type(choices, has_default=has_default)
        required = self._required(has_default=has_default)
        help: Any = self._said.get("help") or ""
        if not isinstance(help, str):
            raise self._wrong(f"help is text, not {help!r}.")
        default = self._value(self._said.get("default"), wanted, "the default") if has_default else None
        fitting = [self._value(each, wanted, "a choice") for each in choices] if choices is not None else None
        if fitting is not None and has_default and default is not None and not _among(default, fitting):
            raise self._wrong(f"the default {default!r} is none of the choices: {_listed(fitting)}.")
        return Parameter(
            name=self._name,
            type=str(wanted) if wanted != ANY else None,
            default=UNSET if required else tag(default),
            help=help,
            choices=None if fitting is None else tuple(tag(each) for each in fitting),
            required=required,
        )

    def _choices(self) -> list[Any] | None:
        said: Any = self._said.get("choices")
        if said is None:
            return None
        if not isinstance(said, list) or not said:
            raise self._wrong(f"choices are a list of values, not {said!r}.")
        return [_untagged(self._name, each) for each in cast("list[Json]", said)]

    def _type(self, choices: list[Any] | None, *, has_default: bool) -> Type:
        said: Any = self._said.get("type")
        if said is None:
            from_choices = _type_of_all(choices) if choices else None
            return from_choices or (type_of(_untagged(self._name, self._said["default"])) if has_default else ANY)
        wanted = parse_type(said) if isinstance(said, str) else None
        if wanted is None:
            known = ", ".join((*SIMPLE[:-2], "list[…]", "dict", "… | None"))
            raise self._wrong(f"the type {said!r} is not known. These are: {known}.")
        return wanted

    def _required(self, *, has_default: bool) -> bool:
        said: Any = self._said.get("required")
        if not isinstance(said, (bool, type(None))):
            raise self._wrong(f"required is true or false, not {said!r}.")
        if said and has_default:
            raise self._wrong("it is required and has a default. Keep one of the two.")
        return not has_default if said is None else said

    def _value(self, said: Json, wanted: Type, what: str) -> Any:
        """The value as one of the type. A default may be null whatever the type: then it is optional."""
        if said is None:
            return None
        try:
            return fit(said, wanted)
        except Misfit:
            raise self._wrong(f"{what} {_untagged(self._name, said)!r} is not {article(wanted)}.") from None


def _merged(front: Parameter, cell: Parameter | None) -> Parameter:
    """The frontmatter's declaration, with what only the cell says."""
    if cell is None:
        return front
    return msgspec.structs.replace(
        front,
        type=front.type or cell.type,
        help=front.help or cell.help,
        choices=front.choices or cell.choices,
        cell=cell.cell,
        line=cell.line,
    )


# ---- Binding


def bind(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> BoundParameters:
    """Hold values to what is declared. A `Text` is read as the declared type; anything else has a type already.

    An undeclared one is taken along with a warning.
    """
    known = {each.name: each for each in parameters}
    missing = [each.name for each in parameters if each.required and each.name not in values]
    if missing:
        raise BadInput(_missing([known[name] for name in missing]), parameters=missing)
    given = {name: _bound(known.get(name), value) for name, value in values.items()}
    defaults = {each.name: untag(each.default) for each in parameters if each.default is not UNSET}
    warnings = tuple(_undeclared(name, known) for name in values if name not in known)
    values = defaults | given
    ours = {name: value for name, value in values.items() if name in known}
    return BoundParameters(values=values, given=given, declared=ours, warnings=warnings)


def _missing(parameters: Sequence[Parameter]) -> str:
    names = ", ".join(repr(each.name) for each in parameters)
    tries = " ".join(f"-p {each.name}={_tried(each)}" for each in parameters)
    if len(parameters) == 1:
        return f"parameter {names} has no value, and needs one. Try {tries}."
    return f"parameters {names} have no values, and need them. Try {tries}."


def _bound(parameter: Parameter | None, value: Any) -> Any:
    if parameter is None:
        return guess(str(value)) if isinstance(value, Text) else untag(value) if isinstance(value, dict) else value
    wanted = parameter.wanted
    try:
        found = _read(value, wanted, parameter)
    except Misfit:
        told = f"parameter {parameter.name!r} wants {article(wanted)}, got {_shown(value)}. {_hint(parameter)}"
        raise BadInput(told, parameter=parameter.name, type=parameter.type) from None
    choices = [untag(each) for each in parameter.choices or ()]
    if choices and not (found is None and _optional(parameter)) and not _among(found, choices):
        told = f"parameter {parameter.name!r} is one of {_listed(choices)}, got {_shown(value)}. {_hint(parameter)}"
        raise BadInput(told, parameter=parameter.name, choices=parameter.choices)
    return found


def _read(value: Any, wanted: Type, parameter: Parameter) -> Any:
    if isinstance(value, Text):
        if _optional(parameter) and value.strip().lower() in ("none", "null") and wanted.name != "str":
            return None
        return from_text(str(value), wanted)
    return None if value is None and _optional(parameter) else fit(value, wanted)


def _optional(parameter: Parameter) -> bool:
    """Whether null stands for a value that is not there."""
    return parameter.default is None


def _among(value: Any, choices: Sequence[Any]) -> bool:
    """Whether it is one of them: `True` is not 1 here."""
    return any(type(value) is type(each) and value == each for each in choices)


def _shown(value: Any) -> str:
    text = repr(str(value)) if isinstance(value, Text) else repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _listed(choices: Sequence[Any]) -> str:
    return ", ".join(_shown(each) for each in choices)


def _hint(parameter: Parameter) -> str:
    return f"Try -p {parameter.name}={_tried(parameter)}."


def _tried(parameter: Parameter) -> str:
    """A value that would do."""
    if parameter.choices:
        return str(untag(parameter.choices[0]))
    return example(parameter.wanted)


def _undeclared(name: str, known: Mapping[str, Parameter]) -> str:
    close = nearest(name, known)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"parameter {name!r} is not declared; it is passed on as it is.{hint}"


# ---- Telling


def inspected(parameters: Iterable[Parameter]) -> dict[str, dict[str, Json]]:
    """Name to type, default and help: what `inspect_parameters` answers."""
    return {each.name: {"type": each.type, "default": _told(each), "help": each.help} for each in parameters}


def as_json(parameter: Parameter) -> dict[str, Json]:
    """What `quire params --json` says of one."""
    told: dict[str, Json] = {
        "name": parameter.name,
        "type": parameter.type,
        "default": _told(parameter),
        "help": parameter.help,
        "choices": list(parameter.choices) if parameter.choices is not None else None,
        "required": parameter.required,
    }
    return told | ({"expression": parameter.expression} if parameter.expression is not None else {})


def _told(parameter: Parameter) -> Json:
    return None if parameter.default is UNSET else parameter.default
