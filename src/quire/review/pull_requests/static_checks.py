"""What is looked at in a proposed change without running anything, and what its runs add to that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath

from msgspec import UNSET

from ...core.errors import QuireError
from ...core.params.parameters import declared
from ...core.results import declared as declared_results
from ...core.sheet.sheet import Sheet
from ...disk import decode
from ...formats import registry
from ...git.plumbing.checkout import checkout
from ...git.plumbing.commit_tree import file_at
from ...git.plumbing.git_call import checked
from ...kernels.requirements import needs_of
from ..checks.static.check_static import check_static
from ..markdown_text import code
from ..validation.validation_run import Validation
from .description import Check
from .notebook_pairs import looks_like_notebook

_STATIC = frozenset({"parameters", "names", "secrets"})
"""Those of `quire check --static` that depend on the notebook alone; what it declares and generates is looked at here."""


def notebooks_between(top: Path, base: str, head: str) -> tuple[list[str], list[str]]:
    """Return the notebooks that differ between two commits, of a pair the script; and the other files."""
    told = checked("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head, at=top)
    paths = [path for path in told.split("\0") if path]
    found = [path for path in paths if _was_notebook(top, path, base, head)]
    scripts = {path for path in found if path.endswith(".py")}
    pairs = {str(PurePosixPath(path).with_suffix(".ipynb")) for path in scripts}
    # A change of the .ipynb alone is one of the script that it is generated from, where there is one.
    notebooks = [path for path in found if path not in pairs]
    return notebooks, [path for path in paths if path not in found]


def _was_notebook(top: Path, path: str, base: str, head: str) -> bool:
    if "runs" in PurePosixPath(path).parts[:-1]:
        return False
    if path.endswith(".ipynb"):
        return True
    data = file_at(head, path, top) or file_at(base, path, top) or b""
    return looks_like_notebook(path, data)


def checks_of(top: Path, head: str, notebooks: list[str], validations: list[Validation]) -> list[Check]:
    """Return all that was looked at."""
    looked = [_readable(top, head, notebooks), _pairs(top, head, notebooks), _found(top, head, notebooks)]
    return [*chain.from_iterable(looked), *_runs(validations)]


def _readable(top: Path, head: str, notebooks: list[str]) -> Iterator[Check]:
    faults = [fault for path in notebooks for fault in _faults(top, head, path)]
    yield Check(name="Notebooks can be read, with what they declare", passed=not faults, told="; ".join(faults))


def _faults(top: Path, head: str, path: str) -> Iterator[str]:
    data = file_at(head, path, top)
    if data is None:
        return
    try:
        sheet = registry.read(decode(data, path), path)
        for look in (declared, declared_results, needs_of):
            look(sheet)
    except QuireError as error:
        yield f"{code(path)}: {code(str(error))}"


def _found(top: Path, head: str, notebooks: list[str]) -> Iterator[Check]:
    there = [path for path in notebooks if file_at(head, path, top) is not None]
    if not there:
        return
    with checkout(head, top) as folder:
        verdicts = [(path, check_static(str(folder / path), _STATIC)) for path in there]
    found = [f"{code(f'{path}:{cell.line}')}: {code(cell.fault)}" for path, each in verdicts for cell in each.failed]
    yield Check(
        name="Parameters are used, names defined, and no secret is written", passed=not found, told="; ".join(found)
    )


def _pairs(top: Path, head: str, notebooks: list[str]) -> Iterator[Check]:
    found = {path: check_pair(top, head, path) for path in notebooks}
    if any(agrees is not None for agrees in found.values()):
        odd = [
            code(str(PurePosixPath(path).with_suffix(".ipynb"))) for path, agrees in found.items() if agrees is False
        ]
        yield Check(name="Each .ipynb says what its script says", passed=not odd, told=", ".join(odd))


def check_pair(top: Path, head: str, path: str) -> bool | None:
    """Return whether the .ipynb beside a script says what the script says at a commit; None where it is no pair."""
    book = str(PurePosixPath(path).with_suffix(".ipynb"))
    if not path.endswith(".py") or not file_at(head, book, top) or not file_at(head, path, top):
        return None
    return _agree(top, head, path, book)


def _agree(top: Path, head: str, script: str, book: str) -> bool:
    sheets: list[list[tuple[str, str]]] = []
    for path in (script, book):
        data = file_at(head, path, top) or b""
        try:
            sheet = registry.read(decode(data, path), path)
            # By way of the script: what a script cannot say is no difference.
            said = registry.read(registry.write(sheet, script), script) if path == book else sheet
        except QuireError:
            said = Sheet()
        sheets.append([(cell.kind, cell.source) for cell in said.cells])
    return sheets[0] == sheets[1]


def _runs(validations: list[Validation]) -> Iterator[Check]:
    ran = [each for each in validations if each.head is not None]
    failed = [each for each in ran if not each.succeeded]
    told = ", ".join(f"{code(each.path)} ended as {each.head.status}" for each in failed if each.head is not None)
    yield Check(name="Every notebook runs from top to bottom", passed=not failed, told=told)
    gone = [
        f"{code(name)} of {code(each.path)}"
        for each in ran
        if each.comparison is not None and each.succeeded and each.base is not None and each.base.succeeded
        for name, pair in each.comparison.results.items()
        if pair.b is UNSET
    ]
    yield Check(name="No result is lost", passed=not gone, told=", ".join(gone))
