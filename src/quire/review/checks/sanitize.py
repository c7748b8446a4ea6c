"""What is replaced in outputs before they are compared, because it is another in every run.

There are built-in groups, and rules of the user's own: a regular expression and what stands in its place, in the
file format of nbval. Moments and paths need both sides to be judged, so they are compared in text_comparison.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import msgspec

from ...core.errors import BadInput
from ...disk import read_text

GROUPS = ("times", "paths", "addresses", "ids", "hashes")
DEFAULT_GROUPS = frozenset(("times", "paths", "addresses", "ids"))
"""A hash tells whether data are the same: who prints one of something random has to say so."""

_NUMBER = r"(?<![\d.])\d{1,20}(?:\.\d{1,20})?"
_UNIT = r"(?:ns|µs|μs|us|ms|s|secs?|seconds?|min|minutes?|h|hours?)"
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "times": (
        # What %time and %timeit print, and the ends of progress bars.
        (r"(?m)^(CPU times:|Wall time:).*$", r"\1 TIME"),
        (rf"{_NUMBER} {_UNIT} ± {_NUMBER} {_UNIT} per loop \([^)\n]{{0,200}}\)", "TIME per loop"),
        (r"\[\d\d:\d\d(?::\d\d)?<[^\]\n]{0,200}\]", "[TIME]"),
        # A duration is data unless the words before it say that it was measured.
        (
            rf"(?i)\b(took|elapsed|duration|run ?time|finished in|done in|completed in|ran in)(\W{{1,3}}(?:time)?\W{{0,2}})"
            rf"{_NUMBER}\s?{_UNIT}\b",
            r"\1\2TIME",
        ),
    ),
    "paths": ((r"<(?:ipython-input|ipykernel)-[^>\n]{0,200}>", "<cell>"),),
    # Only where a repr shows one: hex(255) is a value.
    "addresses": ((r"(?<=\bat )0x[0-9a-fA-F]{4,16}\b", "ADDRESS"),),
    "ids": (
        (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "ID"),
        # A styled frame's, those of a plot in SVG, and those of anything else in HTML that only its scripts know.
        (r"\bT_[0-9a-f]{5}", "T_ID"),
        # Lengths are limited: an image may stand in such an attribute, too.
        (
            r"""(\b(?:id|href|xlink:href|for|clip-path|aria-labelledby)=["'](?:url\()?#?)"""
            r"""[^"']{0,80}[0-9a-f]{6,80}[^"']{0,80}(?=["'])""",
            r"\1ID",
        ),
    ),
    "hashes": ((r"\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})\b", "HASH"),),
}  # fmt: skip


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user's own."""

    pattern: str
    replacement: str


class Sanitizer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The rules that hold for a check."""

    groups: frozenset[str] = DEFAULT_GROUPS
    own: tuple[Rule, ...] = ()

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        made = [(re.compile(rule.pattern), rule.replacement) for rule in self.own]
        for group in GROUPS:
            if group in self.groups:
                made += [(re.compile(pattern), replacement) for pattern, replacement in _PATTERNS[group]]
        return made

    def clean(self, text: str) -> str:
        """Return the text as it is compared: the user's rules first, in their order."""
        for pattern, replacement in self._compiled:
            text = pattern.sub(replacement, text)
        return text


def groups_of(chosen: Iterable[str], without: Iterable[str]) -> frozenset[str]:
    """Return the default groups with some more and without others; `all` is each of them."""
    with_all = {*DEFAULT_GROUPS, *(GROUPS if "all" in chosen else chosen)}
    made: set[str] = set() if "all" in without else with_all - set(without)
    if unknown := sorted(({*chosen, *without}) - {*GROUPS, "all"}):
        raise BadInput(f"There is no group of rules {unknown[0]!r}: {', '.join(GROUPS)} and all are there.")
    return frozenset(made)


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Read a file of `regex:` and `replace:` lines, as nbval takes it."""
    rules: list[Rule] = []
    pattern: str | None = None
    for line in read_text(path).splitlines():
        if line.startswith("regex: "):
            pattern = line.removeprefix("regex: ")
        elif line.startswith("replace: ") and pattern is not None:
            rules.append(checked_rule(pattern, line.removeprefix("replace: "), str(path)))
            pattern = None
        else:
            # As nbval has it, the two lines of a rule follow each other.
            pattern = None
    return tuple(rules)


def rules_in(given: object, what: str) -> tuple[Rule, ...]:
    """Read rules out of a notebook's settings: a list of `{regex: …, replace: …}`."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise BadInput(f"{what}: `sanitize` is a list of rules, each with `regex` and `replace`.")
    rules: list[Rule] = []
    for each in cast("Sequence[Any]", given):
        match each:
            case {"regex": str(pattern), "replace": str(replacement)}:
                rules.append(checked_rule(pattern, replacement, what))
            case _:
                raise BadInput(f"{what}: {each!r} is no rule. Write `regex: …` and `replace: …`.")
    return tuple(rules)


def checked_rule(pattern: str, replacement: str, what: str) -> Rule:
    """Return the rule, or say why it is none."""
    try:
        re.compile(pattern).sub(replacement, "")
    except (re.error, IndexError) as error:
        raise BadInput(f"{what}: {pattern!r} is no regular expression: {error}.") from None
    return Rule(pattern=pattern, replacement=replacement)
