"""How `quire runs diff` looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ....formats.terminal_safe import one_line, plain
from ....formats.value_text import value_text
from ....runs.records.run_comparison import ComparedRuns, Comparison, ValuePair
from ..printer import counted, spent, table
from ..screen import coloured
from .runs_verb import inked, titled


def comparison_lines(compared: ComparedRuns, names: Sequence[str]) -> Iterator[str]:
    """A comparison as lines for people: what differs, and that the rest does not."""
    found = compared.comparison
    for sign, log, name, status in zip("ab", (found.a, found.b), names, (found.status.a, found.status.b), strict=True):
        yield f"{sign}  {log}  {plain(name)}  {inked(status)}"
    yield from pairs_part("parameters", found.parameters)
    yield from sources_part(compared)
    yield from pairs_part("results", found.results)
    yield from pairs_part("environment", found.environment)
    yield from packages_part(found.packages)
    if found.inputs:
        yield from pairs_part("input files", found.inputs)
    yield from titled("timing", table(("", "a", "b", "", ""), list(_timing_rows(found))).split("\n"))


def pairs_part(title: str, pairs: dict[str, ValuePair]) -> Iterator[str]:
    """The values that differ; how many others do not."""
    changed = [(name, _side(pair.a), _side(pair.b)) for name, pair in pairs.items() if not pair.same]
    if not changed:
        yield from titled(f"{title}: {'the same' if pairs else 'none'}", ())
        return
    alike = f", {len(pairs) - len(changed)} more the same" if len(pairs) > len(changed) else ""
    rows = table(("", "a", "b"), changed).split("\n")
    yield from titled(f"{title}: {counted(len(changed), 'difference')}{alike}", rows)


def packages_part(packages: dict[str, ValuePair] | None) -> Iterator[str]:
    """The packages whose versions differ."""
    if packages is None:
        yield from titled("packages: not known of both", ())
    elif not packages:
        yield from titled("packages: the same", ())
    else:
        yield from pairs_part("packages", packages)


def _side(value: Any) -> str:
    return "-" if value is msgspec.UNSET else value_text(value)


def sources_part(compared: ComparedRuns) -> Iterator[str]:
    """What was run otherwise, cell by cell."""
    if not compared.sources:
        yield from titled("sources: the same", ())
        return
    from ....formats.diff_view.diff_text import render_text

    text = render_text(compared.sources, *compared.sheets, colour=coloured(sys.stdout), parts=("sources",))
    yield from titled("sources", text.rstrip("\n").split("\n"))


def _timing_rows(found: Comparison) -> Iterator[Sequence[str]]:
    yield "", spent(found.duration_seconds.a), spent(found.duration_seconds.b), "", "in all"
    for pair in found.timing:
        times = _ratio(pair.a_seconds, pair.b_seconds)
        number = pair.b_number if pair.b_number is not None else pair.a_number
        yield str(number), spent(pair.a_seconds) or "-", spent(pair.b_seconds) or "-", times, one_line(pair.label)


def _ratio(a: float | None, b: float | None) -> str:
    """How many times as long; of what took no time to speak of, nothing."""
    if a is None or b is None or max(a, b) < 0.1 or min(a, b) <= 0:
        return ""
    return f"× {b / a:.1f}" if not 0.8 < b / a < 1.25 else ""
