"""Write web/src/core/types.gen.ts: the events and the notebook as TypeScript types.

The source is events.py, notebook.py and directory.py. An event has optional fields where Python has defaults, as JSON
leaves those out; the values of notebook.py have every field, and DEFAULTS says what JSON left out.

    python tools/web_types.py           write the file
    python tools/web_types.py --check   exit with 1 if the file is not what would be written
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from quire.core import events, ids, text
from quire.core.notebook import directory, executions, notebook, reduce

TARGET = Path(__file__).parents[1] / "web" / "src" / "core" / "types.gen.ts"
WIDTH = 120

HEADER = """\
/**
 * What can happen to a notebook, and what a log folds to. Written by tools/web_types.py from events.py, notebook.py and
 * directory.py (`make web-types`). Do not edit.
 */

/** What `JSON.parse` returns. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** Keys may be `__proto__`: build one with a spread or Object.fromEntries, never by assigning to a key. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** At `at`, `remove` code points go and `insert` comes in their place. */
export type Splice = readonly [at: number, remove: number, insert: string]
/** Splices in the coordinates of the text before the edit, sorted, not overlapping. */
export type Edit = readonly Splice[]
"""

CONSTANTS = {
    "REDUCER": (reduce.REDUCER, "Goes up with every change of what a branch does or of what a notebook holds."),
    "SCRATCHES": (executions.SCRATCHES, "How many pieces of code without a cell are kept once they have ended."),
    "INLINE_TEXT": (notebook.INLINE_TEXT, "How many code points of a stream stay in the notebook."),
    "RUNS": (notebook.RUNS, "The kinds of cell that a runtime can execute."),
    "MOST_ASKED": (directory.MOST_ASKED, "So many runs that were asked for out of turn are kept of a schedule."),
    "WORKSPACE_LOG": (ids.WORKSPACE_LOG, "The one log that is neither a notebook's nor a run's."),
}

# An event of a newer server is none of the union: whoever folds finds no branch for its type.
SKIPPED = ("AnyEvent", "Event", "Unknown")
# Full values; those of events.py are as JSON has them.
FULL = (notebook, directory)
# Read by key all the time, and keys may be anything: maps.
MAPPED = (notebook.Notebook, directory.Directory)


def generate() -> str:
    """The whole file."""
    parts = [HEADER, *_ids(), *_constants()]
    for module in (events, notebook, directory):
        for name, value in _members(module):
            parts.append(_struct(value) if _is_struct(value) else _alias(module, name, value))
    return "\n".join([*parts, _defaults()])


def _members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The structs and type aliases of a module, in its order."""
    for name, value in vars(module).items():
        if name.startswith("_") or name in SKIPPED:
            continue
        is_own = _is_struct(value) and value.__module__ == module.__name__
        if is_own or (not isinstance(value, type) and re.search(rf"^{name}: TypeAlias", _source(module), re.M)):
            yield name, value


def _source(module: ModuleType) -> str:
    return inspect.getsource(module)


def _is_struct(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, msgspec.Struct)


def _ids() -> Iterator[str]:
    for name, value in vars(ids).items():
        if isinstance(value, NewType):
            comment = _comments(ids).get(name)
            yield f"{_doc(comment) if comment else ''}export type {name} = string"
    yield ""


def _constants() -> Iterator[str]:
    for name, (value, comment) in CONSTANTS.items():
        suffix = " as const" if isinstance(value, tuple) else ""
        yield f"{_doc(comment)}export const {name} = {json.dumps(value)}{suffix}"
    yield ""


# ---- Types


def _alias(module: ModuleType, name: str, value: Any) -> str:
    comment = _comments(module).get(name)
    members = _expand(value)
    text = f"export type {name} = {' | '.join(members)}"
    if len(text) > WIDTH:
        text = f"export type {name} =\n  | " + "\n  | ".join(members)
    return f"{_doc(comment) if comment else ''}{text}\n"


def _expand(value: Any) -> list[str]:
    """The members of an alias, by the names of smaller aliases where those cover some."""
    if get_origin(value) is Literal:
        return [json.dumps(each) for each in get_args(value)]
    left, members = list(get_args(value)), list[str]()
    for alias, name in _aliases():
        inside = _arms(alias)
        if value != alias and len(inside) > 1 and all(arm in left for arm in inside):
            left = [arm for arm in left if arm not in inside]
            members.append(name)
    return [*(_type(arm) for arm in left), *members]


def _arms(alias: Any) -> list[Any]:
    return [alias] if get_origin(alias) is Literal else list(get_args(alias))


def _aliases() -> list[tuple[Any, str]]:
    """Every alias with its name, the large ones first."""
    found = [
        (value, name)
        for module in (events, notebook, directory)
        for name, value in _members(module)
        if not _is_struct(value)
    ]
    return sorted(found, key=lambda pair: -len(_arms(pair[0])))


def _struct(kind: type[msgspec.Struct]) -> str:
    is_full = kind.__module__ in [module.__name__ for module in FULL]
    hints = get_type_hints(kind, include_extras=True)
    comments = _field_comments(kind)
    config = kind.__struct_config__
    lines = [f"{_doc(_cleaned(kind))}export interface {kind.__name__} {{"]
    if config.tag is not None:
        lines.append(f"  readonly {config.tag_field}: {json.dumps(config.tag)}")
    for field in msgspec.structs.fields(kind):
        if field.name in comments:
            lines.append("  " + _doc(comments[field.name]).rstrip())
        mark = "" if is_full or field.required else "?"
        lines.append(f"  readonly {field.name}{mark}: {_type(hints[field.name], mapped=kind in MAPPED)}")
    return "\n".join([*lines, "}", ""])


def _type(hint: Any, *, mapped: bool = False) -> str:
    """A type hint in TypeScript."""
    for alias, name in _aliases():
        if hint == alias:
            return name
    if isinstance(hint, NewType):
        return hint.__name__
    if _is_struct(hint):
        return cast("str", hint.__name__)
    if hint in (text.Edit, events.AnyEvent):
        return "Edit" if hint == text.Edit else "KnownEvent"
    plain = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "Json"}
    if hint in plain:
        return plain[hint]
    return _generic(hint, mapped)


def _generic(hint: Any, mapped: bool) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0], mapped=mapped)
    if origin is Literal:
        return " | ".join(json.dumps(each) for each in arguments)
    if origin in (Union, UnionType):
        some = tuple(each for each in arguments if each is not NoneType)
        whole = _union(some)
        inner = _type(whole) if len(some) > 1 and whole != hint else " | ".join(map(_type, some))
        return f"{inner} | null" if len(some) < len(arguments) else inner
    if origin in (tuple, list):
        inner = _type(arguments[0])
        return f"readonly ({inner})[]" if " | " in inner else f"readonly {inner}[]"
    if origin is dict:
        key, value = map(_type, arguments)
        if mapped and value != "Json":
            return f"ReadonlyMap<{key}, {value}>"
        return "JsonObject" if value == "Json" else f"Readonly<Record<{key}, {value}>>"
    raise TypeError(f"No TypeScript for {hint!r}: add it to tools/web_types.py.")


def _union(arms: tuple[Any, ...]) -> Any:
    whole = arms[0]
    for arm in arms[1:]:
        whole = whole | arm
    return whole


# ---- Defaults


def _defaults() -> str:
    """What JSON leaves out, by the name of the struct."""
    lines = ["/** What a field is that JSON leaves out, by type. */", "export const DEFAULTS = {"]
    for module in (events, notebook):
        for name, kind in _members(module):
            if _is_struct(kind) and not issubclass(kind, events.Event) and kind not in (events.Draft, events.Entry):
                written = ", ".join(f"{field}: {value}" for field, value in _default_fields(kind))
                lines += _wrapped(f"  {name}: {{ {written} }}," if written else f"  {name}: {{}},")
    return "\n".join([*lines, "} as const", ""])


def _default_fields(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    for field in msgspec.structs.fields(kind):
        if not field.required:
            value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
            yield field.name, json.dumps(value)


def _wrapped(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    name, _, fields = line.partition(": { ")
    return [f"{name}: {{", *(f"    {field}," for field in fields.removesuffix(" },").split(", ")), "  },"]


# ---- Comments


def _cleaned(kind: type) -> str:
    return re.sub(r"\bNone\b", "null", inspect.cleandoc(kind.__doc__ or ""))


def _doc(comment: str) -> str:
    lines = comment.strip().splitlines()
    if len(lines) == 1:
        return f"/** {lines[0]} */\n"
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */", ""])


def _comments(module: ModuleType) -> dict[str, str]:
    """The texts that stand under names of a module."""
    return dict(re.findall(r'^(\w+)(?:: TypeAlias)? = (?:\([^)]*\)|[^\n]*)\n"""(.+?)"""', _source(module), re.M | re.S))


def _field_comments(kind: type) -> dict[str, str]:
    """The texts that stand under fields of a class."""
    return dict(re.findall(r'^    (\w+): [^\n]+\n    """(.+?)"""', inspect.getsource(kind), re.M | re.S))


def main(arguments: Iterable[str]) -> int:
    """Write the file, or check it; return the exit status."""
    written = generate()
    if "--check" not in arguments:
        TARGET.write_text(written, "utf-8")
        return 0
    if TARGET.read_text("utf-8") == written:
        return 0
    print(f"{TARGET.relative_to(Path.cwd())} is out of date: run `make web-types` and adapt web/src/core to it.")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
