"""What a change does to a notebook, as Markdown: results before and after, outputs that changed, how the runs went."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from ...core.values import Json
from ...formats.value_text import value_text
from ...runs.records.run_comparison import ValuePair
from ..markdown_text import block, code, table
from .changed_outputs import changed_outputs
from .validation_run import RunAtCommit, Validation

_MOST_OUTPUTS = 12
_MOST_RESULTS = 60
NOTHING = "—"


def results_lines(validations: list[Validation]) -> Iterator[str]:
    """Yield the section on results: a row for each result of each notebook, before and after."""
    yield "### Results before and after"
    yield ""
    rows = [row for each in validations for row in _rows(each)]
    if rows:
        yield from table(("notebook", "result", "before", "after", "change"), rows[:_MOST_RESULTS])
        if len(rows) > _MOST_RESULTS:
            yield ""
            yield f"… and {len(rows) - _MOST_RESULTS} more results."
    else:
        yield "No notebook of this change records results."
    yield ""


def outputs_lines(validations: list[Validation]) -> Iterator[str]:
    """Yield the section on what cells show; nothing where all show what they did."""
    changed = [(each.path, output) for each in validations for output in changed_outputs(each)]
    if not changed:
        return
    yield "### Outputs that changed"
    yield ""
    for path, output in changed[:_MOST_OUTPUTS]:
        yield f"<details><summary>{_plain(output.cell)} in {_plain(path)}</summary>"
        yield ""
        yield from block([*(f"- {line}" for line in output.before), *(f"+ {line}" for line in output.after)], "diff")
        yield ""
        yield "</details>"
        yield ""
    if len(changed) > _MOST_OUTPUTS:
        yield f"… and {len(changed) - _MOST_OUTPUTS} more cells."
        yield ""


def runs_lines(validations: list[Validation]) -> Iterator[str]:
    """Yield the section on the runs: where each executed notebook lies, with which parameters, and how it went."""
    yield "### Validation run"
    yield ""
    for each in validations:
        yield f"- {code(each.path)}: {_side('head', each.head)}; {_side('base', each.base)}."
        if each.output is not None and each.head is not None:
            yield f"  Executed notebook: {code(each.output)}, run {code(each.head.run or '')}."
        if each.parameters:
            told = ", ".join(code(f"{name} = {_text(_tagged(value))}") for name, value in each.parameters.items())
            yield f"  Parameters of both: {told}."
    yield ""


def _tagged(value: object) -> Json:
    from ...core.values import tag

    return tag(value)


def _side(name: str, run: RunAtCommit | None) -> str:
    if run is None:
        return f"not there at the {name}"
    seconds = f" in {run.seconds:.1f} s" if run.seconds is not None else ""
    fault = f", {code(run.fault)}" if run.fault else ""
    return f"{name} {code(run.commit[:10])} **{run.status}**{seconds}{fault}"


def _rows(validation: Validation) -> Iterator[tuple[str, ...]]:
    path = code(validation.path)
    if validation.comparison is not None:
        for name, pair in validation.comparison.results.items():
            yield path, code(name), _value(pair.a), _value(pair.b), _change(pair)
        return
    only = validation.head or validation.base
    if only is None or only.notebook is None:
        return
    for name, result in only.notebook.results.items():
        value = _value(result.value if result.blob is None else {"blob": result.blob.hash, "media": result.blob.media})
        is_new = only is validation.head
        yield path, code(name), NOTHING if is_new else value, value if is_new else NOTHING, "new" if is_new else "gone"


def _value(value: Json) -> str:
    return NOTHING if value is UNSET else code(_text(value), 80)


def _text(value: Json) -> str:
    return value_text(value, 3)


def _change(pair: ValuePair) -> str:
    if pair.same:
        return "same"
    if pair.a is UNSET:
        return "new"
    if pair.b is UNSET:
        return "gone"
    if pair.difference is UNSET:
        return "**changed**"
    relative = f" ({pair.relative:+.1%})" if pair.relative is not UNSET else ""
    return f"**{pair.difference:+.6g}**{relative}"


def _plain(text: str) -> str:
    """Text inside HTML of ours."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "@\u2060")
