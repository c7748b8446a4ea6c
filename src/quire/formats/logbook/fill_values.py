"""`{name}` in a logbook, replaced by the value of the parameter of that name.

Exactly `{name}`, and only for names that have a value: other braces are JSON's, an
f-string's or the author's. In code a value stays inside the literal that it is put into,
escaped for the language, or it is refused: no value can add a statement. Where that cannot
be told for sure, only numbers and the plainest words are taken.

What a literal means to another program (SQL in a string, a shell's `-c`) is not known here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ...core.errors import BadInput
from ...core.sheet.sheet import Sheet, SheetCell, cell_language
from .code_regions import CodeChange, Stretch, stretches
from .fill_literals import escaped, literal, shell_word, sql_text, text_of
from .reader import language_of
from .shell_words import ShellWord, shell_places

_PLAIN = re.compile(r"[A-Za-z0-9_.-]*")
_IN_SHELL = re.compile(r"[A-Za-z0-9_@%+:,./ =-]*")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|\$?(?:true|false)", re.IGNORECASE)
_BACKSLASHES = re.compile(r"\\*\Z")
_LINES = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_KEEPS_DOLLAR = ("python",)
"""Languages to which a `$` before `{name}` means nothing."""
_OWN_DOLLAR = ("bash", "javascript", "typescript", "scala", "powershell", "perl", "ruby", "csharp")
"""Languages in which `${name}` or `#{name}` is their own way to say it."""


class Site(NamedTuple):
    """A place where a parameter is named."""

    start: int
    end: int
    name: str


def fill(sheet: Sheet, values: Mapping[str, Any]) -> Sheet:
    """Return the sheet with `{name}` replaced in prose, prompts and code, for each name that has a value."""
    if not values:
        return sheet
    return msgspec.structs.replace(sheet, cells=tuple(_filled(cell, sheet, values) for cell in sheet.cells))


def _filled(cell: SheetCell, sheet: Sheet, values: Mapping[str, Any]) -> SheetCell:
    if cell.kind == "raw" or "{" not in cell.source:
        return cell
    if cell.kind in ("markdown", "prompt"):
        source = fill_prose(cell.source, values)
    else:
        try:
            source = fill_code(cell.source, _language(cell, sheet), values)
        except BadInput as error:
            raise BadInput(f"cell {cell.name or cell.id}, {error}", cell=cell.id, **error.details) from None
    return msgspec.structs.replace(cell, source=source)


def _language(cell: SheetCell, sheet: Sheet) -> str:
    if cell.kind == "sql":
        return "sql"
    return language_of(cell_language(cell.metadata) or sheet.language)


def sites(source: str, values: Mapping[str, Any]) -> list[Site]:
    """Where the names of `values` stand in braces. Doubled braces are somebody else's."""
    names = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    found = re.finditer(rf"\{{({names})\}}", source)
    return [
        Site(match.start(), match.end(), match[1])
        for match in found
        if not (source[match.start() - 1 : match.start()] == "{" and source[match.end() : match.end() + 1] == "}")
    ]


def fill_prose(source: str, values: Mapping[str, Any]) -> str:
    """Prose with each value as text on one line, so that it begins no heading, list or fence of its own."""
    return _replaced(source, [(site, _one_line(values[site.name])) for site in sites(source, values)])


def _one_line(value: Any, language: str = "") -> str:
    return _LINES.sub(" ", text_of(value, language))


def _replaced(source: str, parts: list[tuple[Site, str]]) -> str:
    made: list[str] = []
    position = 0
    for site, text in parts:
        made += (source[position : site.start], text)
        position = site.end
    return "".join((*made, source[position:]))


# ---- Code


def fill_code(source: str, language: str, values: Mapping[str, Any]) -> str:
    """Code with each value inside the literal it stands in, or as a literal of its own."""
    found = sites(source, values)
    if not found:
        return source
    code = _Code(source, language, values)
    parts = [(site, text) for site in found if (text := code.text_for(site)) is not None]
    if language == "python" and not all(_is_plain(values[site.name]) for site, _ in parts):
        code.check_same(parts)
    return _replaced(source, parts)


def _is_plain(value: Any) -> bool:
    """Whether a value can do no harm wherever it stands inside a literal."""
    return isinstance(value, (bool, int)) or (isinstance(value, str) and _PLAIN.fullmatch(value) is not None)


class _Code:
    """Decides what stands in the place of each name."""

    def __init__(self, source: str, language: str, values: Mapping[str, Any]) -> None:
        self._source = source
        self._language = language
        self._values = values
        found = stretches(source, language)
        self._stretches = found if found is not None else [Stretch(0, len(source), "unclear")]
        self._starts = [stretch.start for stretch in self._stretches]
        self._places = shell_places(source, self._stretches) if language == "bash" else []

    def check_same(self, parts: list[tuple[Site, str]]) -> None:
        """Refuse the first value with which Python's code is no longer the same."""
        from .syntax_check import fault

        unclear = [stretch for stretch in self._stretches if stretch.kind == "unclear"]
        found = fault(self._source, [self._change(site, text) for site, text in parts], unclear)
        if found is None:
            return
        index, why = found
        blamed = [site for site, _ in parts if not _is_plain(self._values[site.name])]
        raise self._refused(blamed[0] if index is None else parts[index][0], why)

    def _change(self, site: Site, text: str) -> CodeChange:
        stretch = self._around(site)
        return CodeChange(site.start, site.end, text, stretch.kind if stretch is not None else None)

    def text_for(self, site: Site) -> str | None:
        """What stands there instead; None when it is left as it is."""
        before = self._source[site.start - 1 : site.start]
        if before and before in "$#" and self._language in _OWN_DOLLAR and not self._in_comment(site):
            return None
        if before == "$" and self._language not in _KEEPS_DOLLAR:
            raise self._refused(site, "a `$` before it would make it a variable")
        stretch = self._around(site)
        value = self._values[site.name]
        try:
            if stretch is None:
                return self._bare(site, value)
            if stretch.kind == "comment":
                return self._comment(site, value, stretch)
            return self._text(site, value, stretch) if stretch.kind == "text" else self._unclear(site, value)
        except BadInput as error:
            raise error if str(error).startswith("line ") else self._refused(site, str(error).rstrip(".")) from None

    def _around(self, site: Site) -> Stretch | None:
        index = bisect_right(self._starts, site.start) - 1
        stretch = self._stretches[index] if index >= 0 else None
        return stretch if stretch is not None and site.start < stretch.end else None

    def _in_comment(self, site: Site) -> bool:
        stretch = self._around(site)
        return stretch is not None and stretch.kind == "comment"

    def _refused(self, site: Site, why: str) -> BadInput:
        line = self._source.count("\n", 0, site.start) + 1
        shown = repr(self._values[site.name])
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        return BadInput(
            f"line {line}: {{{site.name}}} cannot be replaced by {shown}: {why}."
            " Give another value, or use the parameter as a variable.",
            parameter=site.name,
        )

    # A place of its own: the value as a literal.

    def _bare(self, site: Site, value: Any) -> str:
        before = self._source[max(0, site.start - 1) : site.start]
        after = self._source[site.end : site.end + 1]
        if self._language == "bash":
            return self._shell_word(site, value)
        if before in tuple("'\"`") or after in tuple("'\"`"):
            raise self._refused(site, "it touches a string there")
        if _WORD.fullmatch(before) or _WORD.fullmatch(after) or before in tuple("\\@#"):
            return self._glued(site, value, before, after)
        text = literal(value, self._language)
        # `2 -{x}` with -1 would begin a comment in SQL, and `{x}.real` with 1 is no Python.
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return f"({text})" if is_number and (text.startswith("-") or after == ".") else text

    def _glued(self, site: Site, value: Any, before: str, after: str) -> str:
        """A part of a name, such as `sales_{region}`. The `_` shows that it can become no other word."""
        text = text_of(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
        sides = [side for side in (before, after) if _WORD.fullmatch(side)]
        if sides and all(side == "_" for side in sides) and before not in tuple("\\@#") and _WORD.fullmatch(text):
            return text
        raise self._refused(site, "it is glued to a word there")

    def _shell_word(self, site: Site, value: Any) -> str:
        before = self._source[: site.start]
        if re.search(r"\$\w*\Z", before):
            raise self._refused(site, "a `$` before it would make it a variable")
        place = self._shell_place(site, value)
        # `x=a b` would run b.
        if isinstance(value, (list, tuple, set, frozenset)) and (place is None or place.kind != "argument"):
            raise self._refused(site, "only one word can stand there, not a list")
        text = literal(value, "bash")
        # A bare number before `>` would be the number of a file.
        return f"'{text}'" if text.isdigit() and self._source[site.end : site.end + 1] in tuple("<>") else text

    def _shell_place(self, site: Site, value: Any) -> ShellWord | None:
        """The word it stands in. Where a shell might run it, or nobody can tell, only numbers are taken."""
        index = bisect_right(self._places, (site.start, len(self._source) + 1)) - 1
        place = self._places[index] if index >= 0 else None
        place = place if place is not None and site.end <= place.end else None
        if place is not None and place.kind == "command":
            raise self._refused(site, "a command is expected there")
        is_number = isinstance(value, (int, float)) and _NUMBER.fullmatch(text_of(value, "bash"))
        if place is None and not is_number:
            raise self._refused(site, "the command there might run it, or is not clear")
        return place

    # Inside a comment, or a string.

    def _comment(self, site: Site, value: Any, stretch: Stretch) -> str:
        text = _one_line(value, self._language)
        if stretch.mark and re.search(r"[*/=#\\]", text):
            raise self._refused(site, "it could end the comment")
        return text

    def _text(self, site: Site, value: Any, stretch: Stretch) -> str | None:
        text = text_of(value, self._language)
        if self._language == "python":
            return self._python_text(site, text, stretch)
        if self._language == "sql":
            return sql_text(text, stretch.mark)
        slashes = re.search(r"\\*\Z", self._source[stretch.start : site.start])
        if slashes is not None and len(slashes[0]) % 2 and not (self._language == "bash" and stretch.mark == "'"):
            raise self._refused(site, "a backslash stands before it")
        if self._language == "bash":
            self._shell_place(site, value)
            return self._shell_text(site, text, stretch.mark)
        also = {"julia": "$", "javascript": "$", "typescript": "$"}.get(self._language, "")
        return escaped(text, stretch.mark[0], also, self._language)

    def _shell_text(self, site: Site, text: str, quote: str) -> str:
        word = shell_word(text)
        if quote == "'":
            return text.replace("'", "'\\''")
        if _IN_SHELL.fullmatch(text) and not re.search(r"\$\w*\Z", self._source[: site.start]):
            return text
        return f'"{word}"'  # the string is closed, the value stands in quotes of its own, the string goes on

    def _python_text(self, site: Site, text: str, stretch: Stretch) -> str | None:
        try:
            return _inside_python(self._source, stretch, site.start, site.end, text)
        except ValueError as error:
            raise self._refused(site, str(error)) from None

    def _unclear(self, site: Site, value: Any) -> str:
        """Nobody can tell what it stands in: a number, or a plain word right between quotes."""
        around = self._source[max(0, site.start - 1) : site.start] + self._source[site.end : site.end + 1]
        text = text_of(value, self._language)
        # In bash even the plainest word may be a command: `eval '{name}'`.
        kinds = (int, float) if self._language == "bash" else (str, int, float)
        if isinstance(value, kinds) and around in ("''", '""') and _PLAIN.fullmatch(text):
            return text
        before = self._source[: site.start].rstrip(" \t")[-1:]
        # After another `-` a negative number would begin a comment in some languages.
        if isinstance(value, (int, float)) and _NUMBER.fullmatch(text) and (text[0] != "-" or before in tuple("=(,[:")):
            return text
        raise self._refused(site, f"what it would mean there is not clear to a reader of {self._language}")


# ---- Inside a string of Python's: escaped for its quotes and its prefix


def _inside_python(source: str, string: Stretch, start: int, end: int, text: str) -> str | None:
    """What stands for `text` at a place in a string; None when the braces there are Python's own.

    A ValueError says why it cannot stand there.
    """
    prefix = string.mark.rstrip("'\"").lower()
    quotes = string.mark[len(prefix) :]
    before = source[string.start + len(string.mark) : start]
    raw = "r" in prefix
    if "f" in prefix:
        return None  # an f-string's braces are its own: there it is the variable
    if not raw and _odd_backslashes(before[:-1]) and before.endswith("N"):
        return None  # \N{…} names a character
    if not raw and _odd_backslashes(before):
        raise ValueError("a backslash stands before it")
    return _raw(text, quotes) if raw else _escaped(text, quotes, in_bytes="b" in prefix)


def _odd_backslashes(text: str) -> bool:
    found = _BACKSLASHES.search(text)
    return found is not None and len(found[0]) % 2 == 1


def _raw(text: str, quotes: str) -> str:
    """A raw string has no escapes: what would need one cannot stand in it."""
    if quotes[0] in text or text.endswith("\\") or re.search("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", text):
        raise ValueError("a raw string cannot hold it")
    if len(quotes) == 1 and "\n" in text:
        raise ValueError("a raw string of one line cannot hold it")
    return text


def _escaped(text: str, quotes: str, *, in_bytes: bool) -> str:
    made: list[str] = []
    for char in text.encode().decode("latin-1") if in_bytes else text:
        if char in ("\\", quotes[0]):
            made.append(f"\\{char}")
        elif char.isprintable() and not (in_bytes and char > "~"):
            made.append(char)
        else:
            made.append(char.encode("unicode_escape").decode())
    return "".join(made)
