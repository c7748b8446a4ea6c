"""What is wrong with a template, or will surprise whoever runs it: found without running anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET

from ..core.errors import BadInput, QuireError
from ..core.params.parameters import Parameter, Text, bind
from ..core.python.parse import fault_in
from ..core.results import declared as declared_results
from ..core.sheet.sheet import SheetCell
from ..core.values import untag
from ..formats.papermill import parameterized
from ..formats.logbook.fences import blocks
from ..formats.logbook.reader import LogbookPiece, take_apart
from .product_files import product_patterns
from .template_files import Template, path_from, read_template
from .template_steps import kind_of, marked, prose_parts

Severity: TypeAlias = Literal["error", "warning"]
_BRACES = re.compile(r"(?<![{\w$#])\{([A-Za-z_]\w*)\}(?!\})")
_EXAMPLES = {"int": "1", "float": "1.5", "bool": "true", "list": "[]", "dict": "{}", "date": "2026-01-31"}


class TemplateFault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something about a template."""

    path: str
    line: int
    severity: Severity
    message: str


def check_template(root: Path, file: Path) -> list[TemplateFault]:
    """Return all that speaks against a template, in the order of its lines; errors keep it from running."""
    path = path_from(root, file)
    try:
        template = read_template(root, file)
        taken = take_apart(template.text.removeprefix("\ufeff"), path)
    except BadInput as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found is not None else 1
        return [TemplateFault(path=path, line=line, severity="error", message=str(error))]
    return sorted(_Check(template, taken.pieces, len(taken.front.text)).faults(), key=lambda each: each.line)


class _Check:
    """Looks at one template."""

    def __init__(self, template: Template, pieces: tuple[LogbookPiece, ...], front: int) -> None:
        self._template = template
        self._names = {each.name: each for each in template.parameters}
        text = template.text.replace("\r\n", "\n")
        self._front = text[:front]
        self._lines: dict[str, int] = {}
        at = front
        for piece in pieces:
            at = max(text.find(piece.text, at), at)
            self._lines[piece.cell.id] = text.count("\n", 0, at) + 1
            at += len(piece.text)
        self._pieces = pieces

    def faults(self) -> Iterator[TemplateFault]:
        """Everything."""
        yield from self._of_steps()
        yield from self._of_parameters()
        for piece in self._pieces:
            yield from self._of_cell(piece)
        yield from self._of_values()

    def _fault(self, line: int, severity: Severity, message: str) -> TemplateFault:
        return TemplateFault(path=self._template.path, line=line, severity=severity, message=message)

    def _of_steps(self) -> Iterator[TemplateFault]:
        sheet = marked(self._template.sheet, by_steps=True)
        if not any(kind_of(cell) != "text" for cell in sheet.cells):
            yield self._fault(1, "error", "It has no step: no cell of code, and no prose under a heading of its own.")
        try:
            product_patterns(self._template.sheet)
            declared_results(self._template.sheet)
        except BadInput as error:
            yield self._fault(1, "error", str(error))

    def _of_parameters(self) -> Iterator[TemplateFault]:
        sources = "\n".join(cell.source for cell in self._template.sheet.cells)
        for name, parameter in self._names.items():
            if parameter.cell is None and not re.search(rf"\b{re.escape(name)}\b", sources):
                yield self._fault(self._line_of(name), "warning", f"Parameter {name!r} is used nowhere.")
            if parameter.required and not parameter.help:
                told = (
                    f"Parameter {name!r} has to be given and has no help: whoever is asked for it knows its name alone."
                )
                yield self._fault(self._line_of(name), "warning", told)

    def _line_of(self, name: str) -> int:
        found = re.search(rf"^[ \t]*{re.escape(name)}[ \t]*:", self._front, re.MULTILINE)
        return self._front.count("\n", 0, found.start()) + 1 if found is not None else 1

    def _of_cell(self, piece: LogbookPiece) -> Iterator[TemplateFault]:
        cell, line = piece.cell, self._lines[piece.cell.id]
        if not piece.closed:
            yield self._fault(
                line, "error", "A fence is opened here and never closed: all that follows is taken for code."
            )
        for name in _BRACES.findall(cell.source) if cell.kind in ("markdown", "prompt") else ():
            if name not in self._names and not _in_code(cell, name):
                told = f"{{{name}}} names no parameter, so it stays as it is. Declare it, or take the braces away."
                yield self._fault(line, "warning", told)
        if cell.kind == "code" and (cell.tags or cell.metadata) and "parameters" not in cell.tags:
            told = "What stands behind the label of this fence is not in the file that a run leaves."
            yield self._fault(line, "warning", told)
        if cell.outputs:
            yield self._fault(line, "warning", "A template has results here: they are of no run.")

    def _of_values(self) -> Iterator[TemplateFault]:
        """Whether values can stand where the template has braces, and its Python is Python then."""
        template = self._template
        try:
            bound = bind(
                template.parameters, {each.name: _example(each) for each in template.parameters if each.required}
            )
            filled = parameterized(template.sheet, bound, template.sheet.language)
        except QuireError as error:
            yield self._fault(1, "error", f"With example values: {error}")
            return
        if template.sheet.language != "python":
            return
        for cell in filled.cells:
            if cell.kind == "code" and cell.id in self._lines and "quire" not in cell.metadata:
                fault = fault_in(cell.source)
                if fault is not None:
                    yield self._fault(self._lines[cell.id], "error", f"This is no Python: {fault.message}.")


def _in_code(cell: SheetCell, name: str) -> bool:
    """Whether a name in braces stands in prose as code: between backticks, or in a fence that is not run."""
    if re.search(rf"`[^`\n]*\{{{re.escape(name)}\}}[^`\n]*`", cell.source):
        return True
    fenced = "".join(cell.source[each.start : each.end] for each in blocks(cell.source) if each.kind == "fence")
    return f"{{{name}}}" in fenced


def _example(parameter: Parameter) -> object:
    if parameter.choices:
        return untag(parameter.choices[0])
    if parameter.default is not UNSET:
        return untag(parameter.default)
    return Text(next((text for kind, text in _EXAMPLES.items() if (parameter.type or "").startswith(kind)), "example"))


def step_lines(template: Template) -> list[str]:
    """Return the steps of a template in short, for a list."""
    made: list[str] = []
    for cell in marked(template.sheet, by_steps=True).cells:
        kind = kind_of(cell)
        if kind == "text":
            continue
        part = next(iter(prose_parts(cell.source)), None) if kind == "prose" else None
        text = part.text if part is not None else cell.source
        first = next((line.strip() for line in text.split("\n") if line.strip()), "")
        made.append(f"{kind:<5}  {first.lstrip('# ')}")
    return made
