"""Parameters out of a cell in another language than Python: lines that give a literal to a name.

A reader of lines, not of languages: what is no such line is passed over, and what is no
plain literal is kept as it is written.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .python_source import NamedLiteral, type_and_help


class _Grammar(NamedTuple):
    """How one language writes `name = literal`."""

    line: re.Pattern[str]
    """With groups name and rest, and type where there may be one."""
    comment: str
    words: dict[str, Any]


def _grammar(line: str, comment: str, **words: Any) -> _Grammar:
    return _Grammar(re.compile(line), comment, words)


_PLAIN = r"(?P<name>[A-Za-z_]\w*)\s*=(?![=~>])\s*(?P<rest>.*)"
_C_LIKE: dict[str, Any] = {"true": True, "false": False, "null": None}
_GRAMMARS: dict[str, _Grammar] = {
    "r": _grammar(
        r"(?P<name>[A-Za-z.][\w.]*)\s*(?:<-|<<-|=(?!=))\s*(?P<rest>.*)",
        "#", TRUE=True, FALSE=False, T=True, F=False, NULL=None, NA=None, NaN=float("nan"), Inf=float("inf"),
    ),
    "julia": _grammar(
        r"(?:const\s+)?(?P<name>[^\W\d]\w*!?)\s*(?:::\s*(?P<type>[\w.]+)\s*)?=(?![=>])\s*(?P<rest>.*)",
        "#", true=True, false=False, nothing=None, missing=None, NaN=float("nan"), Inf=float("inf"),
    ),
    "bash": _grammar(r"(?:(?:export|readonly|declare|local)\s+(?:-\w+\s+)*)?(?P<name>[A-Za-z_]\w*)=(?P<rest>.*)", "#"),
    "scala": _grammar(
        r"(?:(?:final|lazy|implicit)\s+)*(?:val|var)\s+(?P<name>\w+)\s*(?::\s*(?P<type>[\w.\[\]]+)\s*)?=\s*(?P<rest>.*)", "//", **_C_LIKE
    ),
    "csharp": _grammar(r"(?:const\s+)?(?P<type>[\w.<>?]+)\s+(?P<name>[A-Za-z_]\w*)\s*=(?![=>])\s*(?P<rest>.*)", "//", **_C_LIKE),
    "fsharp": _grammar(r"let\s+(?:mutable\s+)?(?P<name>\w+)\s*(?::\s*(?P<type>\w+)\s*)?=\s*(?P<rest>.*)", "//", **_C_LIKE),
    "powershell": _grammar(
        r"(?:\[(?P<type>\w+)\]\s*)?\$(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<rest>.*)",
        "#", **{"$true": True, "$false": False, "$null": None},
    ),
    "javascript": _grammar(
        r"(?:(?:const|let|var)\s+)?(?P<name>[A-Za-z_$][\w$]*)\s*(?::\s*(?P<type>\w+)\s*)?=(?![=>])\s*(?P<rest>.*)",
        "//", **_C_LIKE, undefined=None, NaN=float("nan"), Infinity=float("inf"),
    ),
    "matlab": _grammar(_PLAIN, "%", true=True, false=False, NaN=float("nan"), Inf=float("inf")),
    "ruby": _grammar(_PLAIN, "#", true=True, false=False, nil=None),
    "perl": _grammar(r"(?:(?:my|our)\s+)?\$(?P<name>[A-Za-z_]\w*)\s*=(?![=~])\s*(?P<rest>.*)", "#", undef=None),
}  # fmt: skip
_SPELLINGS = {
    "c#": "csharp",
    "f#": "fsharp",
    "pwsh": "powershell",
    "sh": "bash",
    "typescript": "javascript",
    "octave": "matlab",
}
_OTHER = _grammar(_PLAIN, "#", **_C_LIKE)
_TYPES = {
    "int": "int", "int32": "int", "int64": "int", "integer": "int", "long": "int", "bigint": "int",
    "float": "float", "float32": "float", "float64": "float", "double": "float", "real": "float", "decimal": "float",
    "bool": "bool", "boolean": "bool", "string": "str", "char": "str",
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<suffix>[LlDdFfmM]?)"
)
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "0": "\0", "$": "$"}


def in_lines(source: str, language: str) -> list[NamedLiteral]:
    """Return the names that get a value on a line of their own, in order."""
    language = _SPELLINGS.get(language, language)
    grammar = _GRAMMARS.get(language, _OTHER)
    found: list[NamedLiteral] = []
    above: list[str] = []
    for number, line in enumerate(source.split("\n"), 1):
        text = line.strip()
        match = grammar.line.fullmatch(text.rstrip(";").rstrip()) if len(text) < 10_000 else None
        if match is None:
            is_comment = text.startswith(grammar.comment)
            above = [*above, text.lstrip(grammar.comment[0]).strip()] if is_comment else []
            continue
        found.append(_from_line(match, grammar, number, " ".join(filter(None, above)), language))
        above = []
    return found


def _from_line(match: re.Match[str], grammar: _Grammar, number: int, above: str, language: str) -> NamedLiteral:
    rest, behind = _split(match["rest"], grammar.comment)
    fields = match.groupdict()
    said, help = type_and_help(behind or above)
    found = NamedLiteral(fields["name"] or "", number, _TYPES.get((fields.get("type") or "").lower(), said), help=help)
    if rest in grammar.words:
        return found._replace(known=True, value=grammar.words[rest])
    if _STRING.fullmatch(rest) and (content := _content(rest, language)) is not None:
        return found._replace(known=True, value=content)
    if plain := _NUMBER.fullmatch(rest):
        return found._replace(known=True, value=_number(plain["number"], plain["suffix"]))
    if language == "bash" and re.fullmatch(r"[\w./:@%+,-]*", rest):
        return found._replace(known=True, value=rest)
    return found._replace(expression=rest)


def _split(rest: str, comment: str) -> tuple[str, str]:
    """The value and the comment behind it, which does not begin inside a text."""
    string = _STRING.match(rest)
    start = rest.find(comment, string.end() if string else 0)
    value, behind = (rest, "") if start < 0 else (rest[:start], rest[start:].lstrip(comment[0]).strip())
    return value.strip().rstrip(";").rstrip(), behind


def _content(text: str, language: str) -> str | None:
    """What stands in the quotes; None when that takes more than a reader of lines to tell."""
    inner = text[1:-1]
    if text[0] == "'" and language in ("bash", "powershell", "perl", "ruby"):
        return inner if "\\" not in inner else None
    if "\\" in inner and any(mark not in _ESCAPES for mark in _ESCAPE.findall(inner)):
        return None
    if ("$" in inner or "#{" in inner) and language in ("bash", "julia", "powershell", "perl", "ruby"):
        return None
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], inner)


def _number(text: str, suffix: str) -> int | float:
    plain = text.replace("_", "")
    if suffix.lower() in ("d", "f", "m") or any(mark in plain for mark in ".eE"):
        return float(plain)
    return int(plain) if len(plain) < 4000 else float(plain)
