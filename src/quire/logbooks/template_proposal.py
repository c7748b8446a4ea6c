"""What became otherwise in a run, proposed as a change of its template.

Where a value stands in what was changed, the template's `{name}` comes back, if that gives the same code: what was learned is
to hold for other values, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ..actors.mirror.from_file import changes
from ..core.errors import BadInput, Conflict, QuireError, Refused
from ..core.events import CellChange, Draft, ProposalMade
from ..core.ids import CellId, LogId, ProposalId
from ..core.notebook.logbook_record import INJECTED, LogbookStep, logbook_of, step_of, steps_of
from ..core.notebook.notebook import Notebook
from ..core.sheet.sheet import Sheet, SheetCell, derived_ids
from ..core.text import source_hash
from ..core.values import untag
from ..formats.logbook.fill_values import fill_code, fill_prose, sites
from ..runs.fix.fix_proposal import as_asked
from ..runs.fix.run_fix import written
from ..runs.fix.run_source import notebook_of
from ..workspace.clock import new_id
from ..workspace.protocol import Workspace
from .template_files import Template, find_template, read_template
from .template_steps import prose_parts

_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)


class TemplateProposal(msgspec.Struct, frozen=True, kw_only=True):
    """What was proposed to a template."""

    template: str
    log: LogId
    """The notebook that is bound to the template's file."""
    proposal: ProposalId
    changes: int
    literal: tuple[CellId, ...] = ()
    """Steps of the run whose values could not be told from their text: they hold for that run's values alone."""


async def propose_to_template(workspace: Workspace, root: Path, log: LogId, why: str = "") -> TemplateProposal:
    """Propose what was changed, added or left out in a run as a change of its template, for somebody else's yes."""
    now = await workspace.read(log)
    mark = logbook_of(now)
    if mark is None:
        raise BadInput(f"{now.name!r} is no run of a logbook. `quire logbook list` lists the templates.")
    steps = _otherwise(now)
    if not steps:
        raise BadInput(f"Run {log} did what its template says: there is nothing to learn from it.")
    template = read_template(root, find_template(root, mark.template))
    if template.digest != mark.digest:
        told = f"{template.path} was changed since run {log} began, so what became otherwise is none of what it says now"
        raise Refused(f"{told}. Make the change there by hand, or run it again.")
    learned = _Learned(template, now, await workspace.read(log, mark.laid), {k: untag(v) for k, v in mark.parameters.items()})
    learned.take(steps)
    found = await notebook_of(workspace, root, template.path)
    source = await workspace.read(found.log)
    wanted = _changes(source, template, learned.sheet())
    if not wanted:
        raise BadInput(f"{template.path} says already what run {log} did: nothing is left to propose.")
    for proposal, waiting in source.proposals.items():
        if waiting.state == "open" and as_asked(waiting.changes) == wanted:
            raise Conflict(f"Proposal {proposal} asks {template.path} for the same already.", proposal=proposal)
    reasons = "; ".join(dict.fromkeys(step.why for step in steps if step.why))
    told = f"learned from run {log}{f': {reasons}' if reasons else ''}"
    made = ProposalMade(proposal=ProposalId(new_id()), why=f"{why} ({told})" if why else told, changes=wanted)
    await workspace.submit(found.log, [Draft(id=new_id(), event=made)])
    return TemplateProposal(
        template=template.path, log=found.log, proposal=made.proposal, changes=len(wanted), literal=tuple(learned.literal)
    )


def _otherwise(now: Notebook) -> list[LogbookStep]:
    """The steps that are not as in the template; of a headless run also what was changed once it was over."""
    if now.run is None:
        return [step for step in steps_of(now) if step.deviated or step.added or step.left_out]
    found: list[LogbookStep] = []
    for number, id in enumerate(now.order, 1):
        cell, mark = now.cells[id], step_of(now.cells[id])
        if not cell.after_run or cell.scratch or INJECTED in cell.tags or (mark is None and (cell.removed or not cell.runs)):
            continue
        is_changed = mark is not None and not cell.removed and source_hash(cell.source) != mark.hash
        kind = mark.kind if mark is not None else "code"
        if is_changed or mark is None or cell.removed:
            found.append(
                LogbookStep(
                    number=number,
                    cell=id,
                    kind=kind,
                    state="done",
                    deviated=is_changed,
                    added=mark is None,
                    left_out=cell.removed,
                )
            )
    return found


def _changes(source: Notebook, template: Template, wanted: Sheet) -> tuple[CellChange, ...]:
    """What turns the template's notebook into what was learned; Refused where it is not as its file was run."""
    ours = written(source)
    if [(cell.kind, cell.source) for cell in ours.cells] != [(cell.kind, cell.source) for cell in template.sheet.cells]:
        told = f"The notebook of {template.path} says something else than its file, which was run"
        raise Refused(f"{told}. Bring both together (`quire mirror`), and run it again.")
    ids = dict(zip((cell.id for cell in template.sheet.cells), (cell.id for cell in ours.cells), strict=True))
    by_id = {cell.id: cell for cell in ours.cells}
    cells = [
        replace(by_id[ids[cell.id]], source=cell.source) if cell.id in ids else replace(cell, outputs=[])
        for cell in wanted.cells
    ]
    return changes(source, ours, replace(ours, cells=tuple(cells)))


class _Learned:
    """A template on its way to what a run made of it."""

    def __init__(self, template: Template, now: Notebook, laid: Notebook, values: Mapping[str, Any]) -> None:
        self._template, self._now, self._laid, self._values = template, now, laid, values
        self._sources = {cell.id: cell.source for cell in template.sheet.cells}
        self._gone: set[CellId] = set()
        self._added: dict[CellId | None, list[SheetCell]] = {}
        self.literal: list[CellId] = []

    def take(self, steps: list[LogbookStep]) -> None:
        """Take in what became otherwise."""
        for step in steps:
            if step.added:
                self._add(step)
            else:
                self._change(step)

    def sheet(self) -> Sheet:
        """The template as it would be."""
        return replace(self._template.sheet, cells=tuple(self._cells()))

    def _cells(self) -> Iterator[SheetCell]:
        yield from self._added.get(None, ())
        for cell in self._template.sheet.cells:
            source = self._sources[cell.id]
            if cell.id not in self._gone and (source.strip() or not cell.source.strip()):
                yield replace(cell, source=source)
            yield from self._added.get(cell.id, ())

    def _add(self, step: LogbookStep) -> None:
        cell = self._now.cells[step.cell]
        before: CellId | None = None
        for id in self._now.order[: self._now.order.index(step.cell)]:
            mark = step_of(self._now.cells[id])
            before = CellId(mark.part) if mark is not None and mark.part else before
        # From the step: asked for twice, it is the same proposal.
        taken = [*self._sources, *(each.id for each in self._all_added())]
        (id,) = derived_ids([("code", f"{step.cell}\0{cell.source}")], taken)
        made = SheetCell(id=id, kind=cell.kind, source=cell.source, name=cell.name)
        self._added.setdefault(before, []).append(made)

    def _all_added(self) -> Iterator[SheetCell]:
        return (cell for cells in self._added.values() for cell in cells)

    def _change(self, step: LogbookStep) -> None:
        mark, filled = step_of(self._now.cells[step.cell]), self._laid.cells[step.cell].source
        part = CellId(mark.part) if mark is not None else step.cell
        written = self._template_part(part, filled)
        cell = next((each for each in self._template.sheet.cells if each.id == part), None)
        if written is None or cell is None:
            raise Refused(f"Step {step.number} of the run cannot be found in {self._template.path}. Change it there by hand.")
        wanted = "" if step.left_out else self._unfilled(step, cell, written, filled)
        self._sources[part] = self._sources[part].replace(written, wanted, 1).strip("\n")
        if step.left_out and not self._sources[part].strip():
            self._gone.add(part)

    def _template_part(self, part: CellId, filled: str) -> str | None:
        """What the template has, with its braces, where a run has this text."""
        source = next((each.source for each in self._template.sheet.cells if each.id == part), None)
        if source is None:
            return None
        candidates = [source, *(each.text for each in prose_parts(source))]
        return next((each for each in candidates if _spans(each, filled, self._values) is not None), None)

    def _unfilled(self, step: LogbookStep, cell: SheetCell, written: str, filled: str) -> str:
        new = self._now.cells[step.cell].source
        made = with_braces(written, filled, new, self._values)
        if made is None or self._filled(cell, made) != new:
            self.literal.append(step.cell)
            return new
        return made

    def _filled(self, cell: SheetCell, source: str) -> str | None:
        if cell.kind in ("markdown", "prompt"):
            return fill_prose(source, self._values)
        try:
            return fill_code(source, "sql" if cell.kind == "sql" else self._template.sheet.language, self._values)
        except QuireError:
            return None


def with_braces(written: str, filled: str, new: str, values: Mapping[str, Any]) -> str | None:
    """Return `new`, made of `filled`, with the names in braces that `written` has where `filled` has their values.

    None where a value was itself changed: then nobody can tell whether it is one still.
    """
    spans = _spans(written, filled, values)
    if spans is None:
        return None
    made: list[str] = []
    position = 0
    for start, end, name in spans:
        place = _place(filled, new, spans, start, end)
        if place is None or place < position:
            return None
        made += [new[position:place], f"{{{name}}}"]
        position = place + end - start
    return "".join((*made, new[position:]))


def _spans(written: str, filled: str, values: Mapping[str, Any]) -> list[tuple[int, int, str]] | None:
    """Where `filled` has the values of the names that `written` has in braces; None: it is not made of it."""
    pattern, position, names = "", 0, list[str]()
    for site in sites(written, values):
        pattern += f"{re.escape(written[position : site.start])}(.*?)"
        names.append(site.name)
        position = site.end
    found = re.fullmatch(pattern + re.escape(written[position:]), filled, re.DOTALL)
    if found is None:
        return None
    # What stands there in braces still is the language's own: a field of an f-string.
    spans = [(*found.span(number), name) for number, name in enumerate(names, 1)]
    return [(start, end, name) for start, end, name in spans if filled[start:end] != f"{{{name}}}"]


def _place(filled: str, new: str, spans: list[tuple[int, int, str]], start: int, end: int) -> int | None:
    """Where a value stands in the new text: it occurs there as often as before, and before only as a value; else where it was kept."""
    value = filled[start:end]
    word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    places = [found.start() for found in word.finditer(new)]
    same = [first for first, last, _ in spans if filled[first:last] == value]
    if value and [found.start() for found in word.finditer(filled)] == same and len(places) == len(same):
        return places[same.index(start)]
    return _kept(filled, new, start, end)


def _kept(old: str, new: str, start: int, end: int) -> int | None:
    """Where a stretch of the old text stands in the new one, as part of words that both have; None: it was changed."""
    olds, news = _TOKEN.findall(old), _TOKEN.findall(new)
    for kind, i1, i2, j1, _ in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        first = len("".join(olds[:i1]))
        last = len("".join(olds[:i2]))
        if kind == "equal" and first <= start and end <= last:
            return len("".join(news[:j1])) + start - first
    return None
