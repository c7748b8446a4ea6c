"""Where code is a string, where it is a comment, and where nobody can tell.

A reader of characters for each language, just good enough to know that. What it does not
understand, or what dialects read differently, is `unclear`: up to there it is sure.
What the words of a command in bash are is told by shell_words.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

StretchKind: TypeAlias = Literal["text", "comment", "unclear"]


class Stretch(NamedTuple):
    """A part of the code that is no bare code."""

    start: int
    end: int
    kind: StretchKind
    mark: str = ""
    """Of a text what stands before it, quote and all; of a comment what would end it."""


class CodeChange(NamedTuple):
    """A place in the code, and what comes to stand there."""

    start: int
    end: int
    text: str
    around: StretchKind | None
    """What it stands in; None for bare code."""


def stretches(source: str, language: str) -> list[Stretch] | None:
    """Return what is no bare code, in order; None for a language that has no reader."""
    reader = _READERS.get(language)
    if reader is None:
        return None
    # What is a line end to one program and not to another: a comment may be over where we go on.
    if language != "python" and re.search("[\x00\x0b\x0c\x85\u2028\u2029]|\r(?!\n)", source):
        return [Stretch(0, len(source), "unclear")]
    return list(reader(source))


_PYTHON = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<unclear>^[ \t]*[%!?][^\n]*|=[ \t]*[%!][^\n]*)
    | (?P<prefix>(?<!\w)[rRbBuUfF]{1,2})?(?:
        (?P<triple>'{3}|"{3})(?:\\.|[^\\])*?(?P=triple)
      | (?!'{3}|"{3})(?P<single>['"])(?:\\.|(?!(?P=single))[^\\\n])*(?P=single))
    | (?P<open>['"])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def _python(source: str) -> Iterator[Stretch]:
    if source.lstrip().startswith("%%"):  # a cell magic: what follows is any language
        yield Stretch(0, len(source), "unclear")
        return
    for match in _PYTHON.finditer(source):
        if match["open"]:
            yield Stretch(match.start(), len(source), "unclear")
            return
        if match["comment"] or match["unclear"]:
            yield Stretch(match.start(), match.end(), "comment" if match["comment"] else "unclear")
            continue
        mark = (match["prefix"] or "") + (match["triple"] or match["single"])
        yield Stretch(match.start(), match.end(), "text", mark)


_SQL = re.compile(
    r"""(?P<comment>--(?=\s)[^\n]*|--$)
    | /\*(?!M?!|\+)(?P<block>(?:(?!/\*|\*/).)*)\*/
    | (?P<quote>['"`])(?:(?!(?P=quote))[^\\]|(?P=quote){2})*(?P=quote)
    | (?P<bracket>\[[^\]\n'"`]*\])
    | (?P<unclear>['"`\#\[]|/\*|//|--|\$\w*\$|(?<!\w)(?:[qQeErRbB]|[uU]&)(?=['"]))""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def _sql(source: str) -> Iterator[Stretch]:
    """Where dialects part (a backslash in a string, # and // as comments, $$, E'…', hints) the rest is unclear."""
    for match in _SQL.finditer(source):
        if match["unclear"]:
            yield Stretch(match.start(), len(source), "unclear")
            return
        if match["bracket"]:
            yield Stretch(match.start(), match.end(), "unclear")
        elif match["quote"]:
            yield Stretch(match.start(), match.end(), "text", match["quote"])
        else:
            yield Stretch(match.start(), match.end(), "comment", "" if match["block"] is None else "*/")


_BASH = re.compile(
    r"""(?P<comment>(?<![^ \t\n;&|()])(?<!\\[ \t\n;&|()])\#[^\n]*)
    | (?P<here>\\.|\$\{\w+\}|\w\[[^\]\s'"]*\])
    | (?P<single>'[^']*')
    | (?P<double>"(?:\\.|\$\{\w+\}|\$\([^()'"`{}\\]*\)|\$(?![({])|[^"\\`$])*")
    | (?P<unclear>['"`]|(?<=\\[ \t\n;&|()])\#|(?<=[<>])\#|<<(?!<)|\(\(|\[\[|\w\[|\$[{'"]
        |\b(?:let|eval|trap|unset)\b
        |\b(?:declare|typeset|local|readonly|export)[ \t]+-|\bprintf[ \t]+-v|(?:\btest|\[)[ \t][^\n]*-v\b)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def _bash(source: str) -> Iterator[Stretch]:
    """Text that the shell would read once more (arithmetic, subscripts, eval, here-documents) is unclear."""
    here_string = source.replace("<<<", "   ")
    for match in _BASH.finditer(here_string):
        if match["unclear"]:
            yield Stretch(match.start(), len(source), "unclear")
            return
        if match["comment"]:
            yield Stretch(match.start(), match.end(), "comment")
        elif match["here"]:
            yield Stretch(match.start(), match.end(), "unclear")
        else:
            yield Stretch(match.start(), match.end(), "text", match[0][0])


_R = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<raw>(?<![\w.])[rR]["'])
    | (?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\])*(?P=quote)
    | (?P<name>`[^`\\\n]*`)
    | (?P<operator>%[^%\n]*%)
    | (?P<unclear>["'`])""",
    re.VERBOSE | re.DOTALL,
)
_JULIA = re.compile(
    r"""(?P<block>\#=(?:(?!\#=|=\#).)*=\#)
    | (?P<nested>\#=)
    | (?P<comment>\#[^\n]*)
    | (?P<prefixed>\w")
    | (?P<triple>\"{3})(?:\\.|(?!\"{3}|\$\().)*\"{3}
    | (?P<raw>\"{3})
    | (?P<quote>\")(?:\\.|\$(?!\()|[^\"\\$])*\"
    | (?P<name>(?<![\w)\]}'.])'(?:\\[^\n']{1,9}|\\'|[^'\\\n])')
    | (?P<operator>(?<=[\w)\]}'.])')
    | (?P<unclear>[\"'`])""",
    re.VERBOSE | re.DOTALL,
)
_JAVASCRIPT = re.compile(
    r"""(?P<comment>//[^\n\r\u2028\u2029]*)
    | /\*(?P<block>(?:(?!\*/).)*)\*/
    | (?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\\n])*(?P=quote)
    | (?P<template>`)(?:\\.|\$\{\w+\}|\$(?!\{)|[^`\\$])*`
    | (?P<operator>(?<=[\w\])])[ \t]*/(?![^\n]*["'`/]))
    | (?P<unclear>["'`/]|<!--|-->|(?<![\w)\]])<[A-Za-z>/])""",
    re.VERBOSE | re.DOTALL,
)


def _by(pattern: re.Pattern[str], block_end: str = "") -> Callable[[str], Iterator[Stretch]]:
    """A reader for a language whose strings have backslashes, by the names of the pattern's groups."""

    def read(source: str) -> Iterator[Stretch]:
        for match in pattern.finditer(source):
            group = match.lastgroup
            if group in ("raw", "nested", "prefixed", "unclear"):
                yield Stretch(match.start(), len(source), "unclear")
                return
            if group in ("comment", "block"):
                yield Stretch(match.start(), match.end(), "comment", block_end if group == "block" else "")
            elif group == "name":
                yield Stretch(match.start(), match.end(), "unclear")
            elif group != "operator":
                yield Stretch(match.start(), match.end(), "text", match[group or 0])

    return read


_READERS: dict[str, Callable[[str], Iterator[Stretch]]] = {
    "python": _python,
    "sql": _sql,
    "bash": _bash,
    "r": _by(_R),
    "julia": _by(_JULIA, "=#"),
    "javascript": _by(_JAVASCRIPT, "*/"),
    "typescript": _by(_JAVASCRIPT, "*/"),
}
