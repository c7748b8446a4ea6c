"""How the value of a secret may look in what a cell shows.

Each form is text that is removed like the value itself. A form that is hardly a value any more
is none: short ones stand everywhere by accident, and removing them would tell where.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

SHORTEST = 4
"""Shorter values stand everywhere by accident, and removing them would tell where."""
SHORTEST_PART = 8
"""Of a part of a value, and of a value that is encoded: else every picture would break."""
_SHORTEST_LINE = 16
_TELLING = r"(?i)key|token|secret|passw|credential"
_MOST_FIELDS = 1000


def forms_of(value: str) -> Iterator[str]:
    """Yield every text that stands for a value. The value itself comes first."""
    yield value
    for form in (*_written(value), *_encoded(value), *_lines(value)):
        if len(form) >= SHORTEST:
            yield form
    for part in _parts(value):
        yield from (form for form in (part, *_written(part), *_encoded(part)) if len(form) >= SHORTEST_PART)


# ---- As text of some language


def _written(value: str) -> Iterator[str]:
    """In JSON, in a literal of Python, in HTML, in a URL, in quotes of a shell; and in two of the first three."""
    ways: tuple[Callable[[str], Iterator[str]], ...] = (_in_json, _in_python, _in_html)
    for way in ways:
        for form in way(value):
            yield form
            if form != value:
                yield from (twice for again in ways for twice in again(form))
    yield from _in_url(value)
    yield value.replace("'", "'\"'\"'")
    yield value.replace("'", r"'\''")
    yield value.replace("\n", "\r\n")


def _in_json(value: str) -> Iterator[str]:
    # Imported when needed, like others here: most runs have no secrets.
    import json

    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield json.dumps(value)[1:-1].replace("/", r"\/")


def _in_python(value: str) -> Iterator[str]:
    yield repr(value)[1:-1]
    yield ascii(value)[1:-1]
    yield repr(f"'\"{value}")[4:-1]  # beside both kinds of quotes, one is escaped
    yield repr(value.encode("utf-8", "surrogatepass"))[2:-1]


def _in_html(value: str) -> Iterator[str]:
    import html

    escaped = html.escape(value)
    yield escaped
    yield html.escape(value, quote=False)
    yield escaped.replace("&#x27;", "&#39;")
    yield escaped.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    yield escaped.replace("&#x27;", "&apos;")


def _in_url(value: str) -> Iterator[str]:
    from urllib.parse import quote, quote_plus

    raw = value.encode("utf-8", "surrogatepass")
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted
        yield re.sub("%..", lambda match: match[0].lower(), quoted)


# ---- Encoded


def _encoded(value: str) -> Iterator[str]:
    """In hexadecimal; in Base64, the characters that are the same whatever stands around the value."""
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < SHORTEST_PART:
        return
    yield raw.hex()
    yield raw.hex().upper()
    for before in range(3):
        bits = (before + len(raw)) * 8
        first, last = -(-before * 8 // 6), bits // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + raw).decode()[first:last]


# ---- Parts that are as secret as the whole


def _lines(value: str) -> Iterator[str]:
    """Of a value of several lines, such as a key, every line that says something."""
    lines = value.splitlines()
    if len(lines) > 1:
        for line in lines:
            if len(line.strip()) >= _SHORTEST_LINE:
                yield line.strip()


def _parts(value: str) -> Iterator[str]:
    """The password in a URL; in a JSON object, what its name says is secret."""
    if "://" in value and "@" in value:
        yield from _passwords(value)
    elif value.startswith("{"):
        yield from _fields(value)


def _passwords(url: str) -> Iterator[str]:
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password and parts.password != parts.username:
        yield parts.password
        yield unquote(parts.password)


def _fields(text: str) -> Iterator[str]:
    import json

    try:
        waiting: list[tuple[str, Any]] = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return
    for _ in range(_MOST_FIELDS):
        if not waiting:
            return
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += cast("dict[str, Any]", value).items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in cast("list[Any]", value)]
        elif isinstance(value, str) and re.search(_TELLING, name):
            yield value.strip()
            yield from _lines(value)
