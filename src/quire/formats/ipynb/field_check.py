"""The fields of nbformat 4, checked, as cells of a sheet.

Reading is validating: what makes no sense is a `FieldError` that names the field, and the caller
adds which cell of which file. Where nbformat wants a field that says nothing when it is
empty (`outputs`, `execution_count`, `metadata`), a file without it is read all the same.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias, cast

from ...core.events import CellKind
from ...core.ids import CellId
from ...core.sheet.sheet import OURS, SheetCell, is_json
from ...core.values import Json
from .valid_metadata import restored, schema_of

MINOR = 5
"""The newest minor version of nbformat 4 that we know all about."""
Fields: TypeAlias = dict[str, Json]

TYPES: dict[CellKind, str] = {"code": "code", "sql": "code", "markdown": "markdown", "raw": "raw", "prompt": "raw"}
"""Each kind, as the cell type that nbformat knows."""
_KNOWN = frozenset(("cell_type", "id", "metadata", "source", "attachments"))
_KNOWN_OF_CODE = _KNOWN - {"attachments"} | {"execution_count", "outputs"}
_CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SQL = re.compile(r"\A%%sql[ \t]*(?:\r?\n|\Z)")


class FieldError(ValueError):
    """What is wrong with a field, without saying where."""


def text_of(value: Json) -> str | None:
    """Return a text that is written as one string or as a list of strings; None when it is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        try:
            return "".join(cast("list[Any]", value))
        except TypeError:
            return None
    return None


def lines_of(text: str) -> list[str]:
    """Return a text as the list of lines that nbformat writes; joined, they are the text again."""
    return text.splitlines(keepends=True)


def cell_from(fields: Json, minor: int) -> SheetCell:
    """Return the cell that the fields say; its id is empty where there is none. They are used up."""
    if not isinstance(fields, dict):
        raise FieldError("it is not an object. Remove it, or restore the file from an older version.")
    found = cast("Fields", fields)
    kind, extra = _type_from(found, minor)
    source = text_of(found.get("source", "" if extra else None))
    if source is None:
        raise FieldError(_missing_or(found, "source", "a string or a list of strings"))
    name, tags, metadata, marker = _metadata_from(found)
    kind = kind_of(kind, marker, source)
    if kind == "sql":
        source = _SQL.sub("", source, count=1)
    count, outputs = (_count_from(found), _outputs_from(found, minor)) if TYPES[kind] == "code" else (None, [])
    return SheetCell(
        id=_id_from(found),
        kind=kind,
        source=source,
        name=name,
        tags=tags,
        metadata=metadata,
        outputs=outputs,
        count=count,
        attachments=_attachments_from(found) if TYPES[kind] != "code" else {},
        extra=extra | _extra_from(found, TYPES[kind]),
    )


def kind_of(cell_type: CellKind, marker: str | None, source: str) -> CellKind:
    """Return the kind of a cell whose metadata has our marker; other than its type when the cell is as we write it."""
    if marker == "sql" and cell_type == "code" and _SQL.match(source):
        return "sql"
    return "prompt" if marker == "prompt" and cell_type == "raw" else cell_type


def _type_from(fields: Fields, minor: int) -> tuple[CellKind, Fields]:
    kind: Any = fields.get("cell_type")
    if kind in ("code", "markdown", "raw"):
        return cast("CellKind", kind), {}
    if minor > MINOR and isinstance(kind, str):
        # Of a newer nbformat: nobody runs it, and its type is kept.
        return "raw", {"cell_type": kind}
    if "cell_type" not in fields:
        raise FieldError("'cell_type' is missing. Write code, markdown or raw.")
    raise FieldError(f"'cell_type' {shown(kind)} is not known. Write code, markdown or raw.")


def _id_from(fields: Fields) -> CellId:
    found: Any = fields.get("id", "")
    if "id" in fields and not (isinstance(found, str) and _CELL_ID.fullmatch(found)):
        raise FieldError(f"'id' {shown(found)} is not valid. 1 to 64 letters, digits, _ and - are allowed.")
    return CellId(found)


def _metadata_from(fields: Fields) -> tuple[str | None, tuple[str, ...], Fields, str | None]:
    """Name, tags, the rest, and the kind that Quire marked."""
    found = _object(fields, "metadata")
    if not found:
        return None, (), found, None
    _check_labels(found)
    found = restored(found, schema_of(fields["cell_type"]))
    # What was kept need be neither a list nor a string: then it is metadata like any other.
    tags: Any = found.get("tags", [])
    tags = found.pop("tags", []) if _are_strings(tags) else []
    name: Any = found.get("name")
    name = found.pop("name") if isinstance(name, str) and name else None
    return name, tuple(cast("list[str]", tags)), *unmarked(found)


def _check_labels(metadata: Fields) -> None:
    if not _are_strings(tags := metadata.get("tags", [])):
        raise FieldError(f"'metadata.tags' wants a list of strings, got {shown(tags)}.")
    if not isinstance(name := metadata.get("name", ""), str):
        raise FieldError(f"'metadata.name' wants a string, got {shown(name)}.")


def _are_strings(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value))


def unmarked(metadata: Fields) -> tuple[Fields, str | None]:
    """Return the metadata without our marker, and the marker. A section of ours that is empty goes too."""
    ours: Any = metadata.get(OURS)
    if not isinstance(ours, dict):
        return metadata, None
    section = cast("Fields", ours)
    marker: Any = section.get("kind")
    if section and marker not in ("sql", "prompt"):
        return metadata, None
    rest = {key: value for key, value in section.items() if key != "kind"}
    others = {key: value for key, value in metadata.items() if key != OURS}
    return others | ({OURS: rest} if rest else {}), marker


def _count_from(fields: Fields) -> int | None:
    count: Any = fields.get("execution_count")
    if count is not None and type(count) is not int:
        raise FieldError(f"'execution_count' wants an integer or null, got {shown(count)}.")
    return count


def _attachments_from(fields: Fields) -> Fields:
    attachments = _object(fields, "attachments")
    for name, bundle in attachments.items():
        if not isinstance(bundle, dict):
            raise FieldError(f"'attachments.{name}' wants an object, media type to data, got {shown(bundle)}.")
        _join_bundle(cast("Fields", bundle))
    return attachments


def _extra_from(fields: Fields, cell_type: str) -> Fields:
    known = _KNOWN_OF_CODE if cell_type == "code" else _KNOWN
    # All there is, most of the time: no dict is built.
    return {} if fields.keys() <= known else {key: fields[key] for key in fields if key not in known}


def _outputs_from(fields: Fields, minor: int) -> list[Json]:
    outputs: Any = fields.get("outputs", [])
    if not isinstance(outputs, list):
        raise FieldError(f"'outputs' wants a list, got {shown(outputs)}.")
    for number, output in enumerate(cast("list[Any]", outputs), 1):
        try:
            _complete_output(output, minor)
        except FieldError as fault:
            raise FieldError(f"output {number}: {fault}") from None
    return cast("list[Json]", outputs)


def _complete_output(output: Any, minor: int) -> None:
    """Check an output, join its texts and add the empty fields that it goes without."""
    if not isinstance(output, dict):
        raise FieldError("it is not an object. Run the cell again, or clear its outputs.")
    fields = cast("Fields", output)
    kind: Any = fields.get("output_type")
    if kind == "stream":
        text = text_of(fields.get("text"))
        if text is None:
            raise FieldError(_missing_or(fields, "text", "a string or a list of strings"))
        fields["text"] = text
        _string(fields, "name")
    elif kind in ("display_data", "execute_result"):
        _complete_display(fields, kind)
    elif kind == "error":
        _complete_error(fields)
    elif "output_type" not in fields:
        raise FieldError("'output_type' is missing. Run the cell again, or clear its outputs.")
    elif minor <= MINOR or not isinstance(kind, str):
        known = "stream, display_data, execute_result or error"
        raise FieldError(f"'output_type' {shown(kind)} is not known. It is {known}.")


def _complete_display(fields: Fields, kind: str) -> None:
    data: Any = fields.get("data")
    if not isinstance(data, dict):
        raise FieldError(_missing_or(fields, "data", "an object, media type to data"))
    _join_bundle(cast("Fields", data))
    fields["metadata"] = _object(fields, "metadata")
    if kind == "execute_result":
        fields["execution_count"] = _count_from(fields)


def _complete_error(fields: Fields) -> None:
    for name in ("ename", "evalue"):
        fields.setdefault(name, "")
        _string(fields, name)
    traceback: Any = fields.setdefault("traceback", [])
    if not isinstance(traceback, list) or text_of(traceback) is None:
        raise FieldError(f"'traceback' wants a list of strings, got {shown(traceback)}.")


def _join_bundle(bundle: Fields) -> None:
    for media, value in bundle.items():
        if type(value) is list and not is_json(media):
            text = text_of(value)
            bundle[media] = value if text is None else text


def _object(fields: Fields, name: str) -> Fields:
    found: Any = fields.get(name)
    if found is None and name not in fields:
        return {}
    if not isinstance(found, dict):
        raise FieldError(f"'{name}' wants an object, got {shown(found)}.")
    return cast("Fields", found)


def _string(fields: Fields, name: str) -> None:
    if not isinstance(fields.get(name), str):
        raise FieldError(_missing_or(fields, name, "a string"))


def _missing_or(fields: Fields, name: str, wanted: str) -> str:
    if name not in fields:
        return f"'{name}' is missing. It wants {wanted}."
    return f"'{name}' wants {wanted}, got {shown(fields[name])}."


def shown(value: Json) -> str:
    """Return a value as a message shows it: short, and on one line."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case _:
            text = ascii(value)
            return text if len(text) <= 40 else f"{text[:36]}…"
