"""Verdicts as JUnit's XML, which every CI shows: a test case for each cell, a suite for each notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from ..verdict import CellVerdict, NotebookVerdict
from .text_report import failure_lines

# What XML 1.0 cannot hold, not even as a reference.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdicts: Sequence[NotebookVerdict]) -> str:
    """Return the report."""
    suites = [line for verdict in verdicts for line in _suite(verdict)]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", *suites, "</testsuites>", ""])


def _suite(verdict: NotebookVerdict) -> list[str]:
    cases = [line for cell in verdict.cells for line in _case(cell, verdict.path)]
    whole = [line for fault in verdict.faults for line in _whole(fault, verdict)]
    counts = {
        "tests": len(verdict.cells) + len(verdict.faults),
        "failures": len(verdict.failed) + (len(verdict.faults) if verdict.status != "error" else 0),
        "errors": len(verdict.faults) if verdict.status == "error" else 0,
        "skipped": sum(cell.status == "skipped" for cell in verdict.cells),
    }
    given = "".join(f' {name}="{count}"' for name, count in counts.items())
    opened = f'  <testsuite name={_attribute(verdict.path)}{given} time="{verdict.seconds:.3f}">'
    return [opened, *cases, *whole, "  </testsuite>"]


def _case(cell: CellVerdict, path: str) -> list[str]:
    where = f"classname={_attribute(path)} name={_attribute(cell.name)} file={_attribute(path)}"
    opened = f'    <testcase {where} line="{cell.line}" time="{cell.seconds:.3f}"'
    match cell.status:
        case "passed":
            return [opened + "/>"]
        case "skipped":
            return [opened + "><skipped/></testcase>"]
        case "failed" | "not_run":
            text = _text("\n".join(failure_lines(cell, path)))
            return [opened + f"><failure message={_attribute(cell.fault)}>{text}</failure></testcase>"]


def _whole(fault: str, verdict: NotebookVerdict) -> list[str]:
    kind = "error" if verdict.status == "error" else "failure"
    opened = f'    <testcase classname={_attribute(verdict.path)} name="notebook" file={_attribute(verdict.path)}>'
    return [f"{opened}<{kind} message={_attribute(fault)}/></testcase>"]


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", text))


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))
