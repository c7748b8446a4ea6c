"""Secrets are removed before anything is kept (rule 16), also when a value arrives in pieces.

What stands for a value, and is removed like it: the value itself, without the blanks around
it; the value inside JSON, inside a Python literal, in HTML, in a URL; in Base64, at any
offset, of values of 8 bytes or more (as in a header `Authorization: Basic …`); and every line
of 16 or more characters of a value that has several lines, such as a key.

What is not removed: what a cell takes apart itself (one character per line, reversed,
encrypted, between colours, half on stdout and half on stderr), and what is in pictures. A
program that wants to tell a secret can; this keeps one from being told by accident.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from ...core.values import Json

SHORTEST = 4
"""Shorter values stand everywhere by accident, and removing them would tell where."""
_SHORTEST_LINE = 16
_SHORTEST_ENCODED = 8
_HEAD = 4


class Remover:
    """Puts a mark in the place of every secret. Text of one stream may come in any pieces."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.ignored: dict[str, str] = {}
        """The variables whose values are not removed, and why."""
        forms: dict[str, str] = {}
        for name, value in secrets.items():
            value = value.strip()
            if len(value) >= SHORTEST:
                forms |= {form: name for form in _forms(value) if form not in forms}
            else:
                self.ignored[name] = _why_not(name, value)
        self._marks = _marks(forms)
        # The longest first: of a value and its beginning, the value is meant.
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        self._forms = ordered
        self._longest = len(ordered[0]) if ordered else 0
        self._heads = _heads(ordered)
        self._held: dict[str, str] = {}

    def feed(self, stream: str, text: str) -> str:
        """Return what is safe to pass on now. What may be the beginning of a secret is held back."""
        if self._pattern is None:
            return text
        text = self._held.pop(stream, "") + text
        safe, rest = self._parted(self._pattern, text)
        if rest:
            self._held[stream] = rest
        return safe

    def flush(self, stream: str) -> str:
        """Return what was held back, for nothing comes after it."""
        return self.clean_text(self._held.pop(stream, ""))

    def drop(self, stream: str) -> None:
        """Forget what was held back: its stream was cleared."""
        self._held.pop(stream, None)

    def clean(self, value: Json) -> Json:
        """Return a whole value, of any depth, without secrets; names in it are values too."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.clean_text(value)
        if isinstance(value, list | tuple):
            return [self.clean(each) for each in cast("Iterable[Json]", value)]
        if isinstance(value, dict):
            fields = cast("dict[str, Json]", value)
            return {self.clean_text(name): self.clean(each) for name, each in fields.items()}
        return self._clean_number(value) if isinstance(value, int | float) else value

    def clean_text(self, text: str) -> str:
        """Return a whole text without secrets."""
        if self._pattern is None or not self._stands_in(text):
            return text
        return self._pattern.sub(self._mark, text)

    def _clean_number(self, value: float) -> Json:
        """A secret of digits may come as a number; only as just that one, for numbers are everywhere."""
        if isinstance(value, int) and value.bit_length() > 1024:
            return value
        return self._marks.get(repr(value), value)

    def _stands_in(self, text: str) -> bool:
        # Many times faster than the pattern, and nearly always enough: most text holds no secret.
        return any(form in text for form in self._forms)

    def _mark(self, match: re.Match[str]) -> str:
        return self._marks[match[0]]

    def _parted(self, pattern: re.Pattern[str], text: str) -> tuple[str, str]:
        """Part `text` into what is decided, secrets removed, and what further text may decide."""
        parts: list[str] = []
        position = 0
        some = self._stands_in(text)
        while True:
            open_from = self._open_from(text, position)
            match = pattern.search(text, position) if some else None
            if match is None or match.start() >= open_from:
                return "".join((*parts, text[position:open_from])), text[open_from:]
            parts += (text[position : match.start()], self._mark(match))
            position = match.end()

    def _open_from(self, text: str, start: int) -> int:
        """The first place from which on all of the text is the beginning, and no more, of some secret."""
        length = len(text)
        start = max(start, length - self._longest + 1)
        found = length
        for head, forms in self._heads.items():
            # Of a head that is cut off by the end, the last characters are looked at one by one.
            for place in _places(text, head, start):
                if place >= found:
                    break
                if any(len(form) > length - place and form.startswith(text[place:]) for form in forms):
                    found = place
        return found


def _places(text: str, head: str, start: int) -> Iterator[int]:
    place = text.find(head, start)
    while place >= 0:
        yield place
        place = text.find(head, place + 1)
    yield from (max(start, len(text) - left) for left in range(len(head) - 1, 0, -1) if len(text) - left >= start)


def _heads(forms: Iterable[str]) -> dict[str, list[str]]:
    heads: dict[str, list[str]] = {}
    for form in forms:
        heads.setdefault(form[:_HEAD], []).append(form)
    return heads


def _why_not(name: str, value: str) -> str:
    if not value:
        return f"Secret {name} is empty, so there is nothing to remove. Give it a value, or do not declare it."
    return f"Secret {name} has fewer than {SHORTEST} characters and cannot be told from other text. Use a longer one."


# ---- How a value may look


def _forms(value: str) -> Iterator[str]:
    """Every text that stands for a value. The value itself first."""
    yield value
    for form in (*_escaped(value), *_encoded(value), *_lines(value)):
        if len(form) >= SHORTEST:
            yield form


def _escaped(value: str) -> Iterator[str]:
    # Imported when needed: most runs have no secrets.
    import html
    import json
    from urllib.parse import quote, quote_plus

    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield ascii(value)[1:-1]
    yield repr(f"'\"{value}")[4:-1]  # beside both kinds of quotes, one is escaped
    yield html.escape(value)
    yield html.escape(value, quote=False)
    raw = value.encode("utf-8", "surrogatepass")
    yield repr(raw)[2:-1]
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub("%..", lambda match: match[0].lower(), quoted)


def _encoded(value: str) -> Iterator[str]:
    """The characters that are the same in Base64 whatever stands around the value."""
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < _SHORTEST_ENCODED:
        return
    for before in range(3):
        bits = (before + len(raw)) * 8
        first, last = -(-before * 8 // 6), bits // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + raw).decode()[first:last]


def _lines(value: str) -> Iterator[str]:
    lines = value.splitlines()
    if len(lines) > 1:
        for line in lines:
            if len(line.strip()) >= _SHORTEST_LINE:
                yield line.strip()


# ---- What stands in their place


def _marks(forms: Mapping[str, str]) -> dict[str, str]:
    """A mark for each form: the variable's name, unless a secret could be read into or across such marks."""
    named = {form: f"[secret {name}]" for form, name in forms.items()}
    if not any(_meet(form, mark) for mark in set(named.values()) for form in forms):
        return named
    used = set("".join(forms))
    sign = next(char for char in map(chr, range(0x2588, 0x10FFFF)) if char not in used)
    return dict.fromkeys(forms, sign * 3)


def _meet(form: str, mark: str) -> bool:
    """Whether a form could stand partly or wholly in a mark."""
    if form in mark or mark in form:
        return True
    shared = range(1, min(len(form), len(mark)))
    return any(form[:size] == mark[-size:] or form[-size:] == mark[:size] for size in shared)
