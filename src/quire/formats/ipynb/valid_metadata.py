"""Metadata as nbformat's schema wants it, with what it refuses kept in a section of ours.

Scripts and logbooks say anything in their metadata; the schema types some of its keys. What
it refuses is written in the nearest valid form, or not at all, and stands as it was under
`quire.kept`, from where reading puts it back. `restored` is the exact inverse of `valid`:
a section that `valid` would not have written is somebody's own and stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from ...core.sheet.equality import same
from ...core.sheet.sheet import OURS
from ...core.values import Json

_Fields: TypeAlias = dict[str, Json]
_Nearest: TypeAlias = Callable[[Any], Json]
"""The value itself when the schema takes it, else the nearest it takes, or _GONE."""
Schema: TypeAlias = Mapping[str, _Nearest]
"""The keys that nbformat's schema types."""

_KEPT = "kept"
_GONE: Json = ...
_INFO_TEXTS = ("file_extension", "mimetype", "pygments_lexer")


def valid(metadata: _Fields, schema: Schema) -> _Fields:
    """Return the metadata as the schema takes it; what it refuses goes to `quire.kept`."""
    kept: _Fields = {}
    nearest: _Fields = {}
    for key, value in metadata.items():
        if key in schema and (found := schema[key](value)) is not value:
            kept[key], nearest[key] = value, found
    ours: Any = metadata.get(OURS)
    section = cast("_Fields", ours) if isinstance(ours, dict) else {}
    if _KEPT in section:
        # Not written by us: it may not be taken for ours.
        kept[_KEPT] = section[_KEPT]
    if not kept:
        return metadata
    if OURS in metadata and not section:
        kept[OURS] = ours
    changed = {key: value for key, value in (metadata | nearest).items() if value is not _GONE}
    return changed | {OURS: section | {_KEPT: kept}}


def holds_kept(metadata: Json) -> bool:
    """Whether metadata has the section in which `valid` keeps what the schema refuses."""
    match metadata:
        case {"quire": {"kept": _}}:
            return True
        case _:
            return False


def restored(metadata: _Fields, schema: Schema) -> _Fields:
    """Return the metadata as it was before `valid`; itself when `valid` did not write it."""
    if not holds_kept(metadata):
        return metadata
    section = cast("_Fields", metadata[OURS])
    kept: Any = section[_KEPT]
    if not isinstance(kept, dict):
        return metadata
    before = {key: value for key, value in metadata.items() if key != OURS}
    own = {key: value for key, value in section.items() if key != _KEPT}
    for key, value in cast("_Fields", kept).items():
        (own if key == _KEPT else before)[key] = value
    if own:
        before[OURS] = own
    return before if same(valid(before, schema), metadata) else metadata


def _only(kind: type) -> _Nearest:
    return lambda value: value if type(value) is kind else _GONE


def _is_tag(tag: Any) -> bool:
    return isinstance(tag, str) and tag != "" and "," not in tag


def _tags(value: Any) -> Json:
    if not isinstance(value, list):
        return _GONE
    tags = cast("list[Any]", value)
    found = list(dict.fromkeys(tag for tag in tags if _is_tag(tag)))
    return tags if len(found) == len(tags) else found or _GONE


def _name(value: Any) -> Json:
    return value if isinstance(value, str) and value and "\n" not in value else _GONE


def _scrolled(value: Any) -> Json:
    return value if isinstance(value, bool) or value == "auto" else _GONE


def _execution(value: Any) -> Json:
    if not isinstance(value, dict):
        return _GONE
    times = cast("_Fields", value)
    found = {key: time for key, time in times.items() if isinstance(time, str)}
    return times if len(found) == len(times) else found or _GONE


def _kernelspec(value: Any) -> Json:
    match value:
        case {"name": str(), "display_name": str()}:
            return value
        case {"name": str(name)}:
            return cast("_Fields", value) | {"display_name": name}
        case _:
            return _GONE


def _language_info(value: Any) -> Json:
    match value:
        case {"name": str()}:
            info = cast("_Fields", value)
            found = {key: info[key] for key in info if _is_info(key, info[key])}
            return info if len(found) == len(info) else found
        case _:
            return _GONE


def _is_info(key: str, value: Json) -> bool:
    if key == "codemirror_mode":
        return isinstance(value, str | dict)
    return key not in _INFO_TEXTS or isinstance(value, str)


def _version(value: Any) -> Json:
    return value if type(value) is int and value > 0 else _GONE


NOTEBOOK: Schema = {
    "authors": _only(list),
    "kernelspec": _kernelspec,
    "language_info": _language_info,
    "orig_nbformat": _version,
    "title": _only(str),
}
_CELL: Schema = {"jupyter": _only(dict), "name": _name, "tags": _tags}
_CODE: Schema = {**_CELL, "collapsed": _only(bool), "execution": _execution, "scrolled": _scrolled}
_RAW: Schema = {**_CELL, "format": _only(str)}


def schema_of(cell_type: Json) -> Schema:
    """Return what the schema says of the metadata of a type of cell."""
    return _CODE if cell_type == "code" else _RAW if cell_type == "raw" else _CELL
