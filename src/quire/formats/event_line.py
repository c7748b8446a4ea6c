"""An event as one line, for people who read a log."""

from __future__ import annotations

from ..core import codec
from ..core import events as e
from ..core.visible import visible_line
from .terminal_safe import one_line, plain, reason_line


def describe(event: e.AnyEvent) -> str:
    """Say what happened, in a few words after the event's type; on one line, whatever others wrote."""
    return plain(_described(event)).replace("\n", " ")


def _described(event: e.AnyEvent) -> str:
    match event:
        case e.NotebookCreated() | e.NotebookRenamed() | e.RunRequested() | e.ReviewOpened():
            return repr(event.name)
        case e.CellAdded():
            return f"{event.cell} {event.kind} after {event.after or 'top'}: {visible_line(event.source)}"
        case e.CellMoved():
            return f"{event.cell} after {event.after or 'top'}"
        case e.SourceEdited():
            return f"{event.cell} {_edit(event)}"
        case e.CellKindChanged():
            return f"{event.cell} is {event.kind}"
        case e.CellNamed():
            return f"{event.cell} is {event.name!r}" if event.name else f"{event.cell} has no name"
        case e.CellTagged():
            return f"{event.cell} {', '.join(event.tags) or 'no tags'}"
        case e.ExecutionRequested() | e.ExecutionStarted():
            return f"{event.execution} runs {event.cell}"
        case e.ScratchRequested():
            return f"{event.execution} runs {event.cell}, which is no cell: {visible_line(event.source)}"
        case e.OutputsImported():
            return f"{event.execution} {event.cell}: {len(event.outputs)} outputs"
        case e.ExecutionSkipped():
            return f"{event.execution} leaves out {event.cell}: {one_line(event.why)}"
        case e.StreamAppended():
            return f"{event.execution} {event.name}: {one_line(event.text)}"
        case e.OutputAdded():
            return f"{event.execution} {_output(event.output)}"
        case e.ExecutionFinished() | e.RunFinished():
            fault = f": {event.fault.ename}: {one_line(event.fault.evalue)}" if event.fault is not None else ""
            return f"{getattr(event, 'execution', '')} {event.status}{fault}".strip()
        case e.EnvironmentRecorded():
            return _environment(event)
        case e.RunDelivered():
            how = "delivered" if event.delivered else "failed"
            return " ".join(filter(None, (event.kind, how, one_line(event.target, 100), one_line(event.detail))))
        case e.ScheduleAdded() | e.ScheduleChanged():
            return f"{event.schedule} '{event.plan.when}' {event.plan.timezone}: {one_line(event.plan.path)}"
        case e.ScheduleSkipped():
            return f"{event.schedule} {event.count} from {event.due}: {event.reason}: {one_line(event.why)}"
        case e.RuntimeDetached():
            return f"{event.runtime}{': ' + one_line(event.why, 200) if event.why else ''}"
        case e.ResultRecorded():
            return f"{event.name} = {event.value!r}" if event.blob is None else f"{event.name} ({event.kind})"
        case e.ProposalMade():
            return (
                f"{event.proposal} {len(event.changes)} changes, {len(event.effects)} effects: {reason_line(event.why)}"
            )
        case e.CommentAdded() | e.CommentEdited():
            return f"{event.comment}: {one_line(event.text)}"
        case e.FileMerged():
            return f"from {event.path}: {len(event.changes)} changes" if event.changes else f"{event.path} 0 changes"
        case e.ConflictRaised():
            sides = " | ".join(visible_line(side, 30) or "nothing" for side in (event.ours, event.theirs))
            return f"{event.conflict} in {event.cell}: {sides}"
        case e.PayloadRedacted():
            return f"event {event.seq}: {one_line(event.why)}"
        case _:
            return _plainly(event)


def _edit(event: e.SourceEdited) -> str:
    if event.text is not None:
        return f"whole text: {visible_line(event.text)}"
    edit = event.edit if event.applied is None else event.applied
    rebased = " (rebased)" if event.applied is not None else ""
    return ", ".join(f"at {each.at} -{each.remove} +{visible_line(each.insert, 30)!r}" for each in edit) + rebased


def _environment(event: e.EnvironmentRecorded) -> str:
    packages = f"packages {event.packages.hash[:12]}" if event.packages is not None else "packages not known"
    revision = event.revision
    at = f", git {revision.commit[:12]}{' with changes' if revision.dirty else ''}" if revision is not None else ""
    return f"{packages}{at}, {len(event.inputs)} input files"


def _output(output: e.Display | e.Raised) -> str:
    if isinstance(output, e.Raised):
        return f"{output.ename}: {one_line(output.evalue)}"
    text = output.data.get("text/plain")
    shown = f": {one_line(text)}" if isinstance(text, str) else ""
    return f"{', '.join([*output.data, *(blob for blob in output.blobs if blob not in output.data)])}{shown}"


def _plainly(event: e.AnyEvent) -> str:
    """The values of the fields that name things."""
    if isinstance(event, e.Unknown):
        return "of a newer Quire"
    said = [getattr(event, name) for name in event.__struct_fields__]
    return " ".join(one_line(str(value), 40) for value in said if isinstance(value, str | int) and value != "")


def type_of(event: e.AnyEvent) -> str:
    """The name that a line begins with."""
    return one_line(codec.type_of(event), 40)
