"""Which lines of a Python script Jupytext takes for a notebook's magics, and which stand inside a string.

A script has to be Python, so magics are commented when a notebook is written as one, and
uncommented when it is read. Jupytext decides line by line, by how the line looks: the same
here, or files would mean one thing to us and another to everybody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_COMMENTS = r"(?:# |#)*"
_PERCENT = re.compile(rf"\s*{_COMMENTS}%{{1,3}}[a-zA-Z]")
# An author's last word on a line: `%magic # noescape`.
_ESCAPE = re.compile(rf"\s*{_COMMENTS}%{{1,3}}[a-zA-Z].*#\s*escape")
_NO_ESCAPE = re.compile(rf"\s*{_COMMENTS}%{{1,3}}[a-zA-Z].*#\s*noescape")
_SHELL = "cat|cd|cp|mv|rm|rmdir|mkdir|copy|ddir|echo|ls|ldir|ren"
_OTHERS = re.compile(
    rf"""
      \s*(?:(?:\#[ ]|\#)+\s*)?[?!]\s*[A-Za-z.~$\\/{{}}]                                # !ls, ?print
    | (?:\#[ ]|\#)*\s*[a-zA-Z_][a-zA-Z_$0-9]*\s*=\s*(?:%{{1,3}}|!)[a-zA-Z]             # files = !ls
    | \s*(?:\#[ ])*\S*\?\s*$                                                           # print?
    | (?:\#[ ]|\#)*(?:{_SHELL})(?:$|\s$|\s[^=,])                                       # cd ..
    """,
    re.VERBOSE,
)
_CONTINUED = re.compile(r".*\\\s*$")
# Where a cell begins in Jupytext's light format. Percent files unescape it too.
_PLUS = re.compile(r"(?:# |#)*(?:#|# )\+")
_QUOTES = re.compile(r"[\"']")


def is_magic(line: str, comment_magics: bool = True) -> bool:
    """Whether a line is a magic, commented or not. Without `comment_magics`, only where the line says so."""
    if "%" in line:
        if _ESCAPE.match(line):
            return True
        if _NO_ESCAPE.match(line):
            return False
        if comment_magics and _PERCENT.match(line):
            return True
    return comment_magics and _OTHERS.match(line) is not None


def is_continued(line: str) -> bool:
    """Whether the next line belongs to this one."""
    return "\\" in line and _CONTINUED.match(line) is not None


def is_plus(line: str) -> bool:
    """Whether the light format would begin a cell here, were it not commented."""
    return "+" in line and _PLUS.match(line) is not None


def commented(line: str) -> str:
    """Return a line as a comment."""
    return f"# {line}" if line else "#"


def uncommented(line: str) -> str:
    """Return a comment that begins the line without its mark; any other line as it is."""
    if line.startswith("# "):
        return line[2:]
    return line[1:] if line.startswith("#") else line


def uncommented_once(line: str) -> str:
    """Return a comment, indented or not, without its mark; what stood before the mark stays."""
    inner = line.lstrip()
    return line[: len(line) - len(inner)] + uncommented(inner)


class Quotes:
    """Follows a text line by line and knows whether the next line begins inside a string.

    Jupytext's idea of a string, not Python's: a backslash always escapes, and only a string
    of triple quotes goes on in the next line.
    """

    def __init__(self, comment: str | None = "#", *, never: bool = False) -> None:
        self.open: str | None = None
        """The quote that closes the string the next line begins in."""
        self._comment = comment
        self._never = never

    def read(self, line: str) -> None:
        """Go on by one line."""
        if ('"' not in line and "'" not in line) or self._never:
            return
        if self.open is None and self._comment is not None and line.lstrip().startswith(self._comment):
            return
        self._read_quotes(line)

    def _read_quotes(self, line: str) -> None:
        single: str | None = None
        last = -1
        position = 0
        for match in _QUOTES.finditer(line):
            at, char = match.start(), match[0]
            if single is None and self.open is None and self._comments(line, position, at):
                return
            position = at + 1
            if line[at - 1 : at] == "\\":
                continue
            if single is not None:
                single = None if single == char else single
            elif at >= 2 and at >= last + 3 and line[at - 2 : at + 1] == char * 3 and self.open in (None, char):
                self.open, last = (None if self.open else char), at
            elif self.open is None:
                single = char

    def _comments(self, line: str, start: int, end: int) -> bool:
        return self._comment is not None and line.find(self._comment, start, end) >= 0


def uncomment_magics(lines: Iterable[str], quotes: Quotes) -> Iterator[str]:
    """Give each line, magics without one comment mark."""
    goes_on = False
    for line in lines:
        if quotes.open is None and (goes_on or is_magic(line)):
            yield uncommented_once(line)
            goes_on = is_continued(line)
        else:
            yield line
        quotes.read(line)


def uncomment_plus(lines: Iterable[str], quotes: Quotes) -> Iterator[str]:
    """Give each line, those that were commented twice to keep the light format from them without one mark."""
    for line in lines:
        if quotes.open is None and is_plus(line) and is_plus(inner := uncommented_once(line)):
            yield inner
        else:
            yield line
        quotes.read(line)


# Languages by the mark of their comments. In a cell of such a language, only that mark hides a quote.
_LANGUAGES: dict[str | None, str] = {
    "#": "python coconut R julia bash powershell robotframework sos sage tcl gnuplot xonsh",
    "//": "c++ javascript typescript scala rust csharp fsharp java groovy stata go",
    ";;": "scheme clojure",
    "(*": "wolfram|language ocaml",
    "/*": "maxima sas jenner",
    "--": "haskell lua",
    "%": "matlab logtalk",
    "/": "q",
    ";": "idl",
    None: "sh python2 python3 js perl html latex markdown pypy ruby script svg octave spark sql cython c# f# cs fs",
}
LANGUAGES: dict[str, str | None] = {
    name.replace("|", " "): mark for mark, names in _LANGUAGES.items() for name in names.split()
}
"""The cell magics that are languages, each with the mark of its comments where Jupytext knows it."""


def quotes_of(language: str) -> Quotes:
    """Return a follower of strings for a language."""
    return Quotes(LANGUAGES.get(language), never=language == "R")
