"""One entry of a JSON text that somebody else keeps: looked up, set and taken out, and all the rest left as it is.

Settings of editors and agents are JSON with comments and trailing commas, written by hand. So the text is not
written anew: only the stretch of the one entry changes. Taking out what was set gives the text from before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import msgspec

from ...core.errors import BadInput
from ...core.values import Json

DEEPEST = 100
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_SCALARS = json.JSONDecoder(strict=False)


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A value, and where it stands."""

    start: int
    end: int
    value: Json
    members: tuple[Member, ...] | None = None
    """Of an object, in their order."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A key with its value, and where the key begins."""

    key: str
    start: int
    node: Node


def entry(text: str, path: Sequence[str]) -> Json:
    """What stands at `path`; None when nothing does."""
    value = _read(text).value
    for key in path:
        value = cast("dict[str, Json]", value).get(key) if isinstance(value, dict) else None
    return value


def with_entry(text: str, path: Sequence[str], value: dict[str, Json]) -> str:
    """Return `text` with `value` at `path`, in the place of what was there. A text that says nothing becomes one."""
    if not text.strip():
        return f"{_written(_nested(path, value), '', '  ')}\n"
    node, found = _read(text), 0
    step = match[1] if (match := _INDENT.search(text)) else "  "
    for number, key in enumerate(path):
        if node.members is None:
            named = ".".join(path[:number]) or "the whole"
            raise BadInput(f"{named} is no object, so that nothing can be put into it. Change it by hand.")
        member = _member(node, key)
        if member is None:
            return _added(text, node, key, _nested(path[number + 1 :], value), step)
        node, found = member.node, member.start
    indent = _indent(text, found)
    return text[: node.start] + _written(value, indent, step, _one_line(text, node)) + text[node.end :]


def without_entry(text: str, path: Sequence[str]) -> str:
    """Return `text` without what stands at `path`, and without the objects that it leaves empty."""
    chain = [_read(text)]
    found: list[Member] = []
    for key in path:
        member = _member(chain[-1], key)
        if member is None:
            return text
        found.append(member)
        chain.append(member.node)
    while len(found) > 1 and len(chain[len(found) - 1].members or ()) == 1 and _only(text, chain[len(found) - 1]):
        found.pop()
    return _removed(text, chain[len(found) - 1], found[-1])


def is_empty(text: str) -> bool:
    """Whether it says nothing: no entry and no comment."""
    return re.fullmatch(r"\s*(\{\s*\})?\s*", text) is not None


# ---- Reading


def _read(text: str) -> Node:
    reader = _JsonReader(text)
    node = reader.value(0)
    reader.skip()
    if reader.at < len(text):
        reader.fault("something stands after the end")
    return node


class _JsonReader:
    """Goes through a text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0

    def skip(self) -> str:
        """Pass over spaces and comments; the character that follows."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        if depth > DEEPEST:
            self.fault("it is nested too deeply")
        match self.skip():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case _:
                start = self.at
                return Node(start=start, value=self._scalar(), end=self.at)

    def _scalar(self) -> Any:
        try:
            value, self.at = _SCALARS.raw_decode(self.text, self.at)
        except json.JSONDecodeError:
            self.fault("a value is missing, or is none of JSON")
        return value

    def _object(self, depth: int) -> Node:
        start, members = self.at, list[Member]()
        self.at += 1
        while self.skip() != "}":
            if self.text[self.at : self.at + 1] != '"':
                self.fault("a name in quotes is missing")
            began, key = self.at, self._scalar()
            self._take(":")
            members.append(Member(key=key, start=began, node=self.value(depth + 1)))
            self._next("}")
        self.at += 1
        value = {member.key: member.node.value for member in members}
        return Node(start=start, end=self.at, value=value, members=tuple(members))

    def _array(self, depth: int) -> Node:
        start, values = self.at, list[Json]()
        self.at += 1
        while self.skip() != "]":
            values.append(self.value(depth + 1).value)
            self._next("]")
        self.at += 1
        return Node(start=start, end=self.at, value=values)

    def _next(self, last: str) -> None:
        if self.skip() != last:
            self._take(",")

    def _take(self, mark: str) -> None:
        if self.skip() != mark:
            self.fault(f"a {mark!r} is missing")
        self.at += 1

    def fault(self, told: str) -> NoReturn:
        line = self.text.count("\n", 0, self.at) + 1
        raise BadInput(f"line {line}: {told}. Correct it first.")


# ---- Writing


def _member(node: Node, key: str) -> Member | None:
    """The last of that name: the one that counts."""
    return next((each for each in reversed(node.members or ()) if each.key == key), None)


def _nested(path: Sequence[str], value: dict[str, Json]) -> dict[str, Json]:
    for key in reversed(path):
        value = {key: value}
    return value


def _added(text: str, node: Node, key: str, value: dict[str, Json], step: str) -> str:
    """Put a member behind the last one."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    last = node.members[-1] if node.members else None
    inner = text[last.node.end if last else node.start + 1 : node.end - 1]
    trailing = last is not None and _comma(text, last.node.end) is not None
    before, after = ("," if last and not trailing else ""), ("," if trailing else "")
    head, tail = text[: node.end - 1 - len(inner)] + before, text[node.end - 1 :]
    if _one_line(text, node) and last:
        space = " " if inner.endswith(" ") else ""
        return f"{head}{inner.rstrip(' ')} {json.dumps(key)}: {_written(value, '', step, True)}{after}{space}{tail}"
    outer = _indent(text, node.start)
    indent = _indent(text, last.start) if last else outer + step
    member = f"{indent}{json.dumps(key)}: {_written(value, indent, step)}".replace("\n", line_end)
    kept = inner.rstrip()
    space = inner[len(kept) :] if last else line_end + outer
    return f"{head}{kept}{line_end}{member}{after}{space}{tail}"


def _removed(text: str, node: Node, member: Member) -> str:
    head, tail = text[: member.start], text[member.node.end :]
    if comma := _comma(text, member.node.end):
        tail = text[member.node.end : comma - 1] + text[comma:]
    elif before := [each for each in node.members or () if each.start < member.start]:
        comma = cast("int", _comma(text, before[-1].node.end))
        head = text[: comma - 1] + text[comma : member.start]
    kept = head.rstrip()
    if "\n" in head[len(kept) :] and not re.match(r"[ \t]*\r?\n", tail):
        # What comes after it moves up to its place: a comment may stand in the line before.
        return head + tail.lstrip(" \t")
    if kept.endswith("{"):
        tail = tail.lstrip() if tail.lstrip().startswith("}") else tail.lstrip(" \t")
    return kept + tail


def _comma(text: str, at: int) -> int | None:
    """Behind the comma that follows, if one does."""
    match = _SPACE.match(text, at)
    end = match.end() if match else at
    return end + 1 if text[end : end + 1] == "," else None


def _only(text: str, node: Node) -> bool:
    """Whether nothing but one member stands in an object: no comment."""
    (member,) = cast("tuple[Member]", node.members)
    around = text[node.start + 1 : member.start] + text[member.node.end : node.end - 1]
    return not around.strip(" \t\r\n,")


def _one_line(text: str, node: Node) -> bool:
    return bool(node.members) and "\n" not in text[node.start : node.end]


def _indent(text: str, at: int) -> str:
    """The space that the line of `at` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(value: Json, indent: str, step: str, one_line: bool = False) -> str:
    """An object over several lines; lists, and what is in one line, in one."""
    if one_line or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + step
    entries = cast("dict[str, Json]", value).items()
    members = (f"{inner}{json.dumps(key)}: {_written(each, inner, step)}" for key, each in entries)
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"
