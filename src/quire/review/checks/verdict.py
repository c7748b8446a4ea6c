"""What a check came to, cell by cell: the same values for the terminal, JSON, JUnit, forges and pytest."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ...core.errors import BadInput
from ...core.ids import CellId
from ...core.results import RecordedResult
from ...formats.terminal_safe import one_line
from .compare import OutputDifference, differences
from .execute import CellRun
from .expect import out_of_range
from .plan import CheckedCell, NotebookPlan

VerdictStatus: TypeAlias = Literal["passed", "failed", "skipped", "not_run"]


class CellVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the check of a cell came to."""

    cell: CellId
    name: str
    line: int
    status: VerdictStatus
    seconds: float = 0.0
    fault: str = ""
    """What is wrong, in a sentence."""
    differences: tuple[OutputDifference, ...] = ()
    traceback: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class NotebookVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the check of a notebook came to."""

    path: str
    status: Literal["passed", "failed", "error"]
    """`error`: it could not be read or started."""
    seconds: float = 0.0
    cells: tuple[CellVerdict, ...] = ()
    faults: tuple[str, ...] = ()
    """What is wrong with the notebook and with no cell of it."""
    warnings: tuple[str, ...] = ()
    updated: str | None = None
    """The file into which new outputs were written."""

    def __bool__(self) -> bool:
        return self.status == "passed"

    @property
    def failed(self) -> list[CellVerdict]:
        """The cells that failed."""
        return [cell for cell in self.cells if cell.status in ("failed", "not_run")]


def stored_now(verdict: CellVerdict) -> CellVerdict:
    """Return the verdict once what the cell shows is stored: what only differed is right."""
    if not verdict.differences:
        return verdict
    return msgspec.structs.replace(verdict, status="passed", fault="", differences=())


def judge(
    plan: NotebookPlan, checked: CheckedCell, ran: CellRun | None, results: dict[str, RecordedResult], why_not: str = ""
) -> CellVerdict:
    """Say whether a cell does what it should. `why_not` is why it did not run."""
    verdict = CellVerdict(
        cell=checked.cell.id,
        name=checked.name,
        line=checked.line,
        status="passed",
        seconds=ran.seconds if ran is not None else 0.0,
        warnings=checked.marks.warnings,
    )
    if checked.marks.is_skipped:
        return msgspec.structs.replace(verdict, status="skipped")
    if ran is None or ran.status == "not_run":
        return msgspec.structs.replace(verdict, status="not_run", fault=why_not or "It did not run.")
    fault = _fault(plan, checked, ran, results)
    if isinstance(fault, str) and fault:
        traceback = ran.fault.traceback if ran.fault is not None and ran.status == "error" else ()
        return msgspec.structs.replace(verdict, status="failed", fault=fault, traceback=tuple(traceback))
    if fault:
        said = "It shows something else than what is stored."
        return msgspec.structs.replace(verdict, status="failed", fault=said, differences=tuple(fault))
    return verdict


def _fault(
    plan: NotebookPlan, checked: CheckedCell, ran: CellRun, results: dict[str, RecordedResult]
) -> str | list[OutputDifference]:
    if ran.status != "ok" and (ran.status != "error" or not checked.marks.may_raise):
        return _words(plan, ran)
    if checked.is_unrun:
        return "The file holds outputs of this cell and says that it has not run. Run it, or remove them."
    try:
        if wrong := out_of_range(checked.marks.expects, results):
            return " ".join(wrong)
    except BadInput as error:
        return str(error)
    if not checked.compares or checked.stored is None:
        return ""
    rules = plan.rules
    marks = checked.marks
    if marks.tolerance is not None:
        rules = msgspec.structs.replace(rules, tolerance=marks.tolerance)
    if marks.image_tolerance is not None:
        rules = msgspec.structs.replace(rules, image_tolerance=marks.image_tolerance)
    return differences(checked.stored, ran.outputs, rules)


def _words(plan: NotebookPlan, ran: CellRun) -> str:
    match ran.status:
        case "timeout":
            return f"It took longer than {plan.timeout or 0:g} s."
        case "dead_kernel":
            return (
                f"Its kernel died: {one_line(ran.fault.evalue, 200) if ran.fault is not None else 'nobody knows why'}."
            )
        case "cancelled":
            return "It was interrupted."
        case _:
            fault = ran.fault
            said = f"{fault.ename}: {one_line(fault.evalue, 200)}" if fault is not None else "an error"
            return f"It raised {said}"
