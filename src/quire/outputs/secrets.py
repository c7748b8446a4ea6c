"""Secrets are removed before anything is kept (rule 16), also when a value arrives in pieces.

What stands for a value, and is removed like it: the value itself, without the blanks around
it; the value inside JSON, a Python literal, HTML, a URL or a shell's quotes; in hexadecimal and
in Base64, at any offset, of values of 8 bytes or more (as in a header `Authorization: Basic …`);
every line of 16 or more characters of a value that has several lines, such as a key; the
password in a value that is a URL; what a JSON object calls a key, token, secret or password.
Colours within a value, and tags of HTML within it, do not hide it.

What is not removed: what a cell takes apart itself (one character per line, reversed,
encrypted, compressed, half on stdout and half on stderr, half in one cell and half in the next),
and what is in pictures. A program that wants to tell a secret can; this keeps one from being
told by accident.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from ..core.events import StreamAppended
from ..core.values import Json
from .secret_forms import SHORTEST, forms_of

_HEAD = 4
# Texts, and not compiled yet: most runs have no secrets, and each compiled pattern takes time at every start.
_MARK = "\\[secret [^\\]]*\\]|\u2588{3}"
_LONG_BASE64 = r"[A-Za-z0-9+/]{256}"
_COLOUR = r"\x1b\[[0-9;:]*m"
_COLOUR_OR_TAG = rf"{_COLOUR}|<[^<>]*>"
_CUT_COLOUR = r"\x1b(?:\[[0-9;:]*)?\Z"
# What refers to other things, and is made by us or by whoever wrote the notebook: changed, it would refer to nothing.
_REFERENCES = frozenset(
    ("execution", "cell", "after", "runtime", "hash", "source_hash", "digest", "name", "path", "tags", "notebook")
)

T = TypeVar("T", bound=msgspec.Struct)
_Match: TypeAlias = tuple[int, int, str]
"""Where a secret begins and ends, and its mark."""


class Remover:
    """Puts a mark in the place of every secret. Text of one stream may come in any pieces."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.ignored: dict[str, str] = {}
        """The variables whose values are not removed, and why."""
        forms: dict[str, str] = {}
        for name, value in secrets.items():
            value = value.strip()
            if len(value) >= SHORTEST:
                forms |= {form: name for form in forms_of(value) if form not in forms}
            else:
                self.ignored[name] = _why_not(name, value)
        self._sign = _sign(forms)
        self._marks = _marks(forms, self._sign)
        # The longest first: of a value and its beginning, the value is meant.
        ordered = sorted(forms, key=len, reverse=True)
        self._forms = ordered
        self._longest = len(ordered[0]) if ordered else 0
        self._heads = _heads(ordered)
        self._has_escapes = any("\x1b" in form for form in forms)
        self._held: dict[str, str] = {}

    # ---- Streams

    def feed(self, stream: str, text: str) -> str:
        """Return what is safe to pass on now. What may be the beginning of a secret is held back."""
        if not self._forms:
            return text
        text = self._held.pop(stream, "") + text
        if "\x1b" in text and not self._has_escapes:
            safe, rest = self._parted_coloured(text)
        else:
            safe, rest = self._parted(text)
        if rest:
            self._held[stream] = rest
        return safe

    def flush(self, stream: str) -> str:
        """Return what was held back, for nothing comes after it."""
        return self.clean_text(self._held.pop(stream, ""))

    def drop(self, stream: str) -> None:
        """Forget what was held back: its stream was cleared."""
        self._held.pop(stream, None)

    def masked(self, text: str) -> str:
        """Return text of the same length without secrets: for what a terminal put together by writing over itself."""
        if not self._stands_in(text):
            return text
        return self._pattern.sub(lambda match: self._sign * len(match[0]), text)

    # ---- What comes whole

    def clean_event(self, event: T) -> T:
        """Return an event without secrets in what it tells. Text of streams is left: it was cleaned as it came."""
        if not self._forms or isinstance(event, StreamAppended):
            return event
        told = {name: getattr(event, name) for name in event.__struct_fields__ if name not in _REFERENCES}
        cleaned = {name: self._clean_field(value) for name, value in told.items()}
        changed = {name: value for name, value in cleaned.items() if value != told[name]}
        return msgspec.structs.replace(event, **changed) if changed else event

    def _clean_field(self, value: Any) -> Any:
        if isinstance(value, msgspec.Struct):
            return self.clean_event(value)
        if isinstance(value, tuple):
            return tuple(self._clean_field(each) for each in cast("tuple[Any, ...]", value))
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            if any(isinstance(each, msgspec.Struct) for each in fields.values()):
                return {self.clean_text(name): self._clean_field(each) for name, each in fields.items()}
        # A number of ours, such as that of a chunk, may be the same as a secret.
        return value if isinstance(value, int | float) else self.clean(value)

    def clean(self, value: Json) -> Json:
        """Return a whole value, of any depth, without secrets; names in it are values too."""
        if not self._forms:
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
        if not self._forms:
            return text
        if self._stands_in(text):
            text = self._clean_bytes(text) or self._pattern.sub(self._mark, text)
        if "\x1b[" in text or ("<" in text and ">" in text):
            seamless = re.sub(_COLOUR_OR_TAG, "", text)
            if self._stands_in(seamless):
                text, _ = _SeamText(text, _COLOUR_OR_TAG).without(self._matches(seamless), len(seamless))
        return text

    def _clean_bytes(self, text: str) -> str | None:
        """Bytes in Base64 keep their length, so that the rest of a table or of a file can still be read."""
        if not re.match(_LONG_BASE64, text):
            return None
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return None
        forms = (form.encode("utf-8", "surrogatepass") for form in self._forms)
        cleaned = re.sub(b"|".join(map(re.escape, forms)), lambda match: b"*" * len(match[0]), data)
        made = base64.b64encode(cleaned).decode()
        return None if self._stands_in(made) else made

    def _clean_number(self, value: float) -> Json:
        """A secret of digits may come as a number; only as just that one, for numbers are everywhere."""
        if isinstance(value, int) and value.bit_length() > 1024:
            return value
        return self._marks.get(repr(value), value)

    # ---- Finding

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Compiled when the first secret is met: most runs meet none, and that of a key takes a while.
        return re.compile("|".join(map(re.escape, self._forms)))

    def _stands_in(self, text: str) -> bool:
        # Many times faster than the pattern, and nearly always enough: most text holds no secret.
        return any(form in text for form in self._forms)

    def _mark(self, match: re.Match[str]) -> str:
        return self._marks[match[0]]

    def _matches(self, text: str) -> list[_Match]:
        return [(match.start(), match.end(), self._mark(match)) for match in self._pattern.finditer(text)]

    def _parted_coloured(self, text: str) -> tuple[str, str]:
        """Part `text` as if it had no colours; those inside a secret stay behind its mark."""
        cut = re.search(_CUT_COLOUR, text)
        whole, later = (text[: cut.start()], cut[0]) if cut is not None else (text, "")
        seamed = _SeamText(whole, _COLOUR)
        matches, open_from = self._decided(seamed.text)
        safe, rest = seamed.without(matches, open_from)
        return safe, rest + later

    def _parted(self, text: str) -> tuple[str, str]:
        """Part `text` into what is decided, secrets removed, and what further text may decide."""
        matches, open_from = self._decided(text)
        parts: list[str] = []
        position = 0
        for start, end, mark in matches:
            parts += (text[position:start], mark)
            position = end
        return "".join((*parts, text[position:open_from])), text[open_from:]

    def _decided(self, text: str) -> tuple[list[_Match], int]:
        """The secrets in a text that goes on, and the place from which on it is open what the rest is."""
        matches: list[_Match] = []
        position = 0
        some = self._stands_in(text)
        while True:
            open_from = self._open_from(text, position)
            match = self._pattern.search(text, position) if some else None
            if match is None or match.start() >= open_from:
                return matches, open_from
            matches.append((match.start(), match.end(), self._mark(match)))
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


class _SeamText:
    """Text, and the same without what a reader does not see."""

    def __init__(self, whole: str, seam: str) -> None:
        self._whole, self._seam = whole, re.compile(seam)
        self._places: list[int] = []
        position = 0
        for match in self._seam.finditer(whole):
            self._places += range(position, match.start())
            position = match.end()
        self._places += range(position, len(whole))
        self.text = self._seam.sub("", whole)

    def without(self, matches: Iterable[_Match], upto: int) -> tuple[str, str]:
        """Return the whole with marks for the matches up to a place in the text, and the rest as it is."""
        parts: list[str] = []
        position = 0
        for start, end, mark in matches:
            first, last = self._places[start], self._places[end - 1] + 1
            parts += (self._whole[position:first], mark, *self._seam.findall(self._whole, first, last))
            position = last
        rest = self._places[upto] if upto < len(self._places) else len(self._whole)
        return "".join((*parts, self._whole[position:rest])), self._whole[rest:]


def has_mark(value: Json) -> bool:
    """Whether a value that was kept is not what it was: a secret was removed from it."""
    if isinstance(value, str):
        return re.search(_MARK, value) is not None
    if isinstance(value, dict):
        return any(has_mark(each) for pair in cast("dict[str, Json]", value).items() for each in pair)
    return isinstance(value, list) and any(map(has_mark, cast("list[Json]", value)))


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


# ---- What stands in their place


def _marks(forms: Mapping[str, str], sign: str) -> dict[str, str]:
    """A mark for each form: the variable's name, unless a secret could be read into or across such marks."""
    named = {form: f"[secret {name}]" for form, name in forms.items()}
    if any(_meet(form, mark) for mark in set(named.values()) for form in forms):
        return dict.fromkeys(forms, sign * 3)
    return named


def _sign(forms: Iterable[str]) -> str:
    """A character that no secret has."""
    used = set("".join(forms))
    return next(char for char in map(chr, range(0x2588, 0x10FFFF)) if char not in used)


def _meet(form: str, mark: str) -> bool:
    """Whether a form could stand partly or wholly in a mark."""
    if form in mark or mark in form:
        return True
    shared = range(1, min(len(form), len(mark)))
    return any(form[:size] == mark[-size:] or form[-size:] == mark[:size] for size in shared)
