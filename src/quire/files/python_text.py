"""Text inside a string of Python's: escaped for its quotes and its prefix."""

from __future__ import annotations

import re

from .stretches import Stretch

_BACKSLASHES = re.compile(r"\\*\Z")
_NAMED = re.compile(r"\\N\Z")


def inside(source: str, string: Stretch, start: int, end: int, text: str) -> str | None:
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
