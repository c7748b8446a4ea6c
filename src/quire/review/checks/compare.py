"""What a cell showed against what is stored, medium by medium.

As in nbval, outputs are gathered by stream and media type: the order of those that share one counts, the order of
those that do not says nothing, and counts, tracebacks and metadata are not compared. In addition text is compared by
what it says, data frames by their cells and images by their pixels; `exact` leaves that out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

import msgspec

from ...core.sheet.equality import same
from ...core.sheet.sheet import is_json
from ...core.values import Json
from ...formats.agent_text.html_to_text import MOST_HTML, html_text
from ...formats.agent_text.output_summary import FRAME
from ...outputs.terminal import Terminal
from . import images
from .sanitize import Sanitizer
from .text_comparison import Interval, TextRules, alike, floats_alike

TOLERANCE = 1e-9
"""Sums in another order, and libraries of other versions, differ by less."""
IMAGE_TOLERANCE = 0.01
"""Of the pixels. A label in another font is less; another curve is more."""
_NOT_COMPARED = frozenset(
    # Models of widgets are random, and what is ours beside a table says nothing more than the table.
    ("output_type", "metadata", "execution_count", "prompt_number", "traceback", "name", "transient")
)
_NO_MEDIA = frozenset(("application/vnd.jupyter.widget-view+json", FRAME))
_HTML = "text/html"


class CompareRules(msgspec.Struct, frozen=True, kw_only=True):
    """What may differ."""

    sanitizer: Sanitizer = Sanitizer()
    tolerance: float = TOLERANCE
    image_tolerance: float = IMAGE_TOLERANCE
    exact: bool = False
    """Only what the user's own rules replace may differ, and images are not compared: as nbval does it."""
    ran: Interval | None = None
    results: frozenset[str] = frozenset()
    """Results that have to be in a range, and may be anything within it."""

    @property
    def text(self) -> TextRules:
        """What may differ in a text."""
        groups = self.sanitizer.groups
        return TextRules(
            tolerance=self.tolerance, times=self.ran if "times" in groups else None, paths="paths" in groups
        )


class OutputDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it was."""

    medium: str
    """`stdout`, `text/plain`, `evalue` and the like."""
    fault: str
    expected: str | None = None
    actual: str | None = None


def differences(expected: Sequence[Json], actual: Sequence[Json], rules: CompareRules) -> list[OutputDifference]:
    """Return how the outputs of a cell differ from those that are stored."""
    before, after = _by_medium(expected, rules), _by_medium(actual, rules)
    found: list[OutputDifference] = []
    for medium in dict.fromkeys((*before, *after)):
        found += _of_medium(medium, before.get(medium, []), after.get(medium, []), rules)
    return found


def _of_medium(medium: str, before: list[Json], after: list[Json], rules: CompareRules) -> list[OutputDifference]:
    if not after:
        return [OutputDifference(medium=medium, fault="it is not there any more", expected=_joined(before, medium))]
    if not before:
        return [OutputDifference(medium=medium, fault="it was not there before", actual=_joined(after, medium))]
    if len(before) != len(after):
        fault = f"{len(before)} became {len(after)}"
        return [
            OutputDifference(
                medium=medium, fault=fault, expected=_joined(before, medium), actual=_joined(after, medium)
            )
        ]
    pairs = ((one, other) for one, other in zip(before, after, strict=True))
    return [made for one, other in pairs if (made := _difference(medium, one, other, rules)) is not None]


def _joined(values: Sequence[Json], medium: str) -> str:
    return "\n".join(_shown(value, medium) for value in values)


def _shown(value: Json, medium: str) -> str:
    if medium.startswith("image/") and medium not in ("image/svg+xml",) and isinstance(value, str):
        return f"[{medium}, {len(value):,} characters of Base64]"
    return value if isinstance(value, str) else json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


# ---- What is compared


def _by_medium(outputs: Iterable[Json], rules: CompareRules) -> dict[str, list[Json]]:
    """Gather what is compared, by stream, media type or field."""
    found: dict[str, list[Json]] = {}
    for output in _with_whole_streams(outputs):
        if is_in_range(output, rules.results):
            continue
        if output.get("output_type") == "stream":
            found.setdefault(str(output.get("name")), []).append(output.get("text", ""))
            continue
        for field, value in output.items():
            if field == "data" and isinstance(value, dict):
                for medium, content in cast("dict[str, Json]", value).items():
                    if _is_compared(medium, rules):
                        found.setdefault(medium, []).append(content)
            elif field not in _NOT_COMPARED:
                found.setdefault(field, []).append(value)
    return found


def _is_compared(medium: str, rules: CompareRules) -> bool:
    return medium not in _NO_MEDIA and not (rules.exact and medium in ("image/png", "image/jpeg"))


def is_in_range(output: Mapping[str, Any], results: frozenset[str]) -> bool:
    """Whether an output is a result that may be anything within its range."""
    if not results:
        return False
    metadata: Any = output.get("metadata")
    carried: Any = cast("dict[str, Any]", metadata).get("scrapbook") if isinstance(metadata, dict) else None
    return isinstance(carried, dict) and cast("dict[str, Any]", carried).get("name") in results


def _with_whole_streams(outputs: Iterable[Json]) -> list[dict[str, Json]]:
    """Join what was printed to one stream: how it was cut says nothing. It reads as a terminal shows it."""
    made: list[dict[str, Json]] = []
    streams: dict[str, dict[str, Json]] = {}
    for each in outputs:
        output = cast("dict[str, Json]", each)
        if output.get("output_type") != "stream":
            made.append(output)
            continue
        name = str(output.get("name"))
        if name not in streams:
            streams[name] = {**output, "text": ""}
            made.append(streams[name])
        streams[name]["text"] += output.get("text", "")
    for stream in streams.values():
        stream["text"] = _as_shown(stream["text"])
    return made


def _as_shown(text: str) -> str:
    if "\r" not in text and "\b" not in text and "\x1b" not in text:
        return text
    terminal = Terminal()
    fed = terminal.feed(text)
    return fed[1] if fed is not None else ""


# ---- How it is compared


def _difference(medium: str, expected: Json, actual: Json, rules: CompareRules) -> OutputDifference | None:
    if isinstance(expected, str) and isinstance(actual, str):
        if medium in images.MEDIA and not rules.exact:
            return _image_difference(medium, expected, actual, rules)
        return _text_difference(medium, expected, actual, rules)
    if same(expected, actual) or (not rules.exact and is_json(medium) and _json_alike(expected, actual, rules)):
        return None
    return OutputDifference(
        medium=medium, fault="it differs", expected=_shown(expected, medium), actual=_shown(actual, medium)
    )


def _image_difference(medium: str, expected: str, actual: str, rules: CompareRules) -> OutputDifference | None:
    share, why = images.difference(expected, actual)
    if share <= rules.image_tolerance:
        return None
    return OutputDifference(medium=medium, fault=f"{why}, {rules.image_tolerance:.2%} may")


def _text_difference(medium: str, expected: str, actual: str, rules: CompareRules) -> OutputDifference | None:
    # Nearly all texts are: then no rule has to be compiled.
    if expected == actual:
        return None
    before, after = rules.sanitizer.clean(expected), rules.sanitizer.clean(actual)
    if before == after:
        return None
    if not rules.exact:
        if medium == _HTML and _frames_alike(before, after, rules):
            return None
        if alike(before, after, rules.text):
            return None
    return OutputDifference(medium=medium, fault="it differs", expected=before, actual=after)


def _frames_alike(expected: str, actual: str, rules: CompareRules) -> bool:
    """Whether both are tables that read the same, whatever their style sheets say."""
    if "<table" not in expected or "<table" not in actual or max(len(expected), len(actual)) > MOST_HTML:
        return False
    return alike(html_text(expected), html_text(actual), rules.text)


def _json_alike(one: Any, other: Any, rules: CompareRules) -> bool:
    """Whether two JSON values are the same but for floats that are close."""
    match one, other:
        case dict(), dict():
            left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
            return left.keys() == right.keys() and all(_json_alike(left[key], right[key], rules) for key in left)
        case list(), list():
            pairs = list(zip_longest(cast("list[Any]", one), cast("list[Any]", other), fillvalue=_ABSENT))
            return all(_json_alike(*pair, rules) for pair in pairs)
        case str(), str():
            return alike(rules.sanitizer.clean(one), rules.sanitizer.clean(other), rules.text)
        case float(), float():
            return floats_alike(one, other, rules.tolerance)
        case _:
            return one is not _ABSENT and other is not _ABSENT and same(one, other)


_ABSENT = object()
