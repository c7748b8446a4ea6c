"""What a person reads of a proposed change: the description of a pull request, and the comment of a review.

What the caller wrote stands first and stays; below the marker everything is ours, and is written anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...core.diff.diff import Diff, diff
from ...core.errors import BadInput, QuireError
from ...core.sheet.sheet import Sheet
from ...disk import decode
from ...formats import registry
from ...formats.diff_view.change_rows import ChangeRow, rows
from ...git.plumbing.commit_tree import file_at
from ..markdown_text import block, code, one_line
from ..validation.results_table import outputs_lines, results_lines, runs_lines
from ..validation.validation_run import Validation

MARKER = "<!-- quire: all below is written by `quire propose` -->"
REVIEW_MARKER = "<!-- quire: review -->"
MOST_CHARACTERS = 60_000
"""GitHub takes 65,536."""
_REFS = re.compile(r"^Refs ((?:[\w./-]*#\d+(?:, )?)+)\s*\Z", re.MULTILINE)
_REF = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}")
_MOST_CELLS = 20


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    passed: bool
    told: str = ""


class ProposalFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a description is made of."""

    base: str
    head: str
    validations: list[Validation]
    checks: list[Check]
    notebooks: list[str]
    others: list[str] = []
    """Paths that change as well and are no notebooks."""
    by: str = ""
    on_behalf_of: str = ""
    why: str = ""


def proposal_section(facts: ProposalFacts, top: Path, refs: tuple[str, ...]) -> str:
    """Return the part of a description that is ours."""
    lines = [MARKER, "", *_who(facts), *_body(facts, top)]
    if refs:
        lines = [*_cut(lines), f"Refs {', '.join(_reference(each) for each in refs)}"]
    return "\n".join(_cut(lines)).rstrip() if not refs else "\n".join(lines)


def review_comment(facts: ProposalFacts, top: Path) -> str:
    """Return the comment that a review keeps current."""
    return "\n".join(_cut([REVIEW_MARKER, "", *_body(facts, top)])).rstrip()


def with_section(written: str, section: str) -> str:
    """Return a description: what somebody wrote, then our part in the place of an older one."""
    own = written.partition(MARKER)[0].rstrip()
    return f"{own}\n\n{section}" if own else section


def refs_of(body: str) -> tuple[str, ...]:
    """Return what an earlier description referred to."""
    found = _REFS.search(body.partition(MARKER)[2])
    return tuple(found[1].split(", ")) if found is not None else ()


def split_refs(body: str) -> tuple[str, tuple[str, ...]]:
    """Return a description without the references that it ends in, and those."""
    found = _REFS.search(body.rstrip())
    return (body[: found.start()].rstrip(), tuple(found[1].split(", "))) if found is not None else (body, ())


def check_refs(refs: tuple[str, ...]) -> tuple[str, ...]:
    """Return references to issues, or refuse what is none."""
    told = tuple(part.strip() for each in refs for part in each.split(",") if part.strip())
    for each in told:
        if not _REF.fullmatch(each):
            raise BadInput(f"{each!r} refers to no issue. Give its number: --refs 155, or --refs owner/repository#155.")
    return told


def _reference(ref: str) -> str:
    return ref if "#" in ref else f"#{ref}"


def _who(facts: ProposalFacts) -> Iterator[str]:
    if facts.by:
        behalf = f", asked by {code(facts.on_behalf_of)}" if facts.on_behalf_of else ""
        yield f"Proposed by {code(facts.by)}{behalf}."
        yield ""
    if facts.why:
        yield one_line(facts.why)
        yield ""


def _body(facts: ProposalFacts, top: Path) -> Iterator[str]:
    yield from results_lines(facts.validations)
    yield from outputs_lines(facts.validations)
    yield "### Checks"
    yield ""
    for check in facts.checks:
        told = f": {check.told}" if check.told else ""
        yield f"- {'✅' if check.passed else '❌'} {check.name}{told}"
    yield ""
    yield "### What to look at"
    yield ""
    for path in facts.notebooks:
        yield from _changes(facts, top, path)
    for path in facts.others:
        yield f"- {code(path)}"
    yield ""
    yield from runs_lines(facts.validations)


def _changes(facts: ProposalFacts, top: Path, path: str) -> Iterator[str]:
    old, new = (_sheet(commit, path, top) for commit in (facts.base, facts.head))
    changed = [row for row in rows(_sources(old, new), old, new) if row.operations]
    yield f"- {code(path)}: {summary(old, new)}"
    for row in changed[:_MOST_CELLS]:
        yield f"  - cell {row.new_number or row.old_number} {code(row.cell.name or row.cell.id)} {_fate(row)}"
        lines = list(_lines(row))
        if 0 < len(lines) <= 16:
            yield ""
            yield from (f"    {line}" for line in block(lines, "diff"))
            yield ""


def _lines(row: ChangeRow) -> Iterator[str]:
    from difflib import unified_diff

    old = row.old.source.splitlines() if row.old is not None else []
    new = row.new.source.splitlines() if row.new is not None else []
    for line in unified_diff(old, new, lineterm="", n=1):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def _fate(row: ChangeRow) -> str:
    if row.old is None:
        return "added"
    if row.new is None:
        return "removed"
    return "moved" if row.moved else "changed"


def summary(old: Sheet, new: Sheet) -> str:
    """Say in a few words what becomes of the cells."""
    fates = [_fate(row) for row in rows(_sources(old, new), old, new) if row.operations]
    counts = [(fate, fates.count(fate)) for fate in ("changed", "added", "removed", "moved")]
    told = [f"{count} cell{'s' if count != 1 else ''} {fate}" for fate, count in counts if count]
    return ", ".join(told) or "no cell says anything else"


def _sources(old: Sheet, new: Sheet) -> Diff:
    return diff(old, new).only("sources")


def _sheet(commit: str, path: str, top: Path) -> Sheet:
    return sheet_of_data(file_at(commit, path, top), path)


def sheet_of_data(data: bytes | None, path: str) -> Sheet:
    """Return the notebook in a file; an empty one where there is none that can be read."""
    try:
        return registry.read(decode(data, path), path) if data else Sheet()
    except QuireError:
        return Sheet()


def _cut(lines: list[str]) -> list[str]:
    """As many lines as a forge takes, and a word where some are missing."""
    left = MOST_CHARACTERS
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            kept = lines[:number]
            fences = sum(line.lstrip().startswith("```") for line in kept)
            return [*kept, *(["```"] if fences % 2 else []), "", "… and more: look at the files."]
    return lines
