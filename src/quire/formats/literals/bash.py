"""Values in bash: words, arrays of words, and words by name.

Everything in bash is text, so a number, a date or a path is its text there. What comes to
stand in a word cannot end it, and reaches a terminal without control characters.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, cast

from ..logbook.fill_literals import holds_command, shell_quoted
from .translate import LiteralWriter, Unfit, text_keys

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SHORT = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x1B: "\\e", 0x27: "\\'", 0x5C: "\\\\"}


class Bash(LiteralWriter):
    """Assignments without spaces around `=`."""

    language = "bash"
    words = ("", "true", "false")
    special = ("nan", "inf", "-inf")
    names = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    # They cannot be assigned to, or bash runs what is in them.
    reserved = frozenset(
        ("BASHOPTS", "BASH_ENV", "BASH_VERSINFO", "ENV", "EUID", "IFS", "PPID", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4",
         "SHELLOPTS", "UID", "_")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """A word, an array, or an array with keys."""
        if isinstance(value, dict):
            return f"declare -A {name}={self._keyed(cast('dict[Any, Any]', value))}"
        return f"{name}={self.write(value)}"

    def text(self, value: str) -> str:
        """One word."""
        _check(value, value)
        if not _CONTROL.search(value):
            return shell_quoted(value)
        return _ansi(self._bytes(value))

    def _bytes(self, value: str) -> bytes:
        try:
            # A file name that is no UTF-8 comes as such text from Python.
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise Unfit(value, "it holds half a character") from None

    def binary(self, value: bytes) -> str:
        """Bytes, of which any text consists there."""
        _check(value, value.decode("latin-1"))
        return _ansi(value)

    def listed(self, value: list[Any]) -> str:
        """An array of words."""
        return f"({' '.join(map(self._member, value))})"

    def _keyed(self, value: dict[Any, Any]) -> str:
        if "" in value:
            raise Unfit(value, "a key cannot be empty there")
        pairs = [f"[{_quoted(self.text(key))}]={self._member(each)}" for key, each in text_keys(value).items()]
        return f"({' '.join(pairs)})"

    def _member(self, value: Any) -> str:
        if isinstance(value, (list, tuple, set, frozenset, dict)):
            raise Unfit(cast("object", value), "an array holds no arrays there")
        return self.write(value) or "''"

    def date(self, value: dt.date) -> str:
        """As `date -d` reads it."""
        return value.isoformat()

    def datetime(self, value: dt.datetime) -> str:
        """As `date -d` reads it."""
        return value.isoformat()

    def time(self, value: dt.time) -> str:
        """As `date -d` reads it."""
        return value.isoformat()


def _check(value: str | bytes, text: str) -> None:
    if "\0" in text:
        raise Unfit(value, "a NUL ends every text there")
    if holds_command(text):
        raise Unfit(value, "its arithmetic would run a command that stands in brackets")


def _quoted(word: str) -> str:
    """A key always in quotes: `@` and `*` alone would be all keys."""
    return word if word.startswith(("'", "$'")) else f"'{word}'"


def _ansi(data: bytes) -> str:
    """A word in which nothing but plain ASCII stands."""
    return f"$'{''.join(map(_letter, data))}'"


def _letter(byte: int) -> str:
    # `!` would be looked up in the history.
    plain = 32 <= byte < 127 and byte != 33
    return _SHORT.get(byte) or (chr(byte) if plain else f"\\x{byte:02x}")
