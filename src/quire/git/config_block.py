"""Lines of ours in files of others: put in between two marks, and taken out without a trace.

Text in, text out. Whatever else stands in the file stays as it is, byte for byte.
"""

from __future__ import annotations

import re

_BEGIN = "# >>> quire >>> (`quire git uninstall` removes these lines)"
_END = "# <<< quire <<<"
_BLOCK = re.compile(r"^# >>> quire >>>[^\n]*\n(?:(?!# >>> quire >>>)[^\n]*\n)*?# <<< quire <<<(?:\n|\Z)", re.MULTILINE)


def has_block(text: str) -> bool:
    """Whether lines of ours are in the text."""
    return _BLOCK.search(text) is not None


def with_block(text: str, lines: str, *, below: str = "") -> str:
    """Put lines of ours into the text, in the place of older ones of ours.

    They come last, since the last attribute wins; or right below `below`, the beginning of the text.
    """
    text = without_block(text)
    before, after = (below, text.removeprefix(below)) if below else (text, "")
    block = f"{_BEGIN}\n{lines.rstrip()}\n{_END}\n"
    if before and not before.endswith("\n"):
        # The missing line end goes to the end of the block: so it can be told whose it was.
        return f"{before}\n{block.removesuffix(chr(10))}{after}"
    return f"{before}{block}{after}"


def without_block(text: str) -> str:
    """Take the lines of ours out of the text."""
    while found := _BLOCK.search(text):
        before, after = text[: found.start()], text[found.end() :]
        if not found[0].endswith("\n"):
            before = before.removesuffix("\n")
        text = before + after
    return text
