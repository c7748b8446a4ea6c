"""What the package promises."""

from __future__ import annotations

import subprocess
import sys

import quire
from quire.core import errors
from quire.core.errors import QuireError, answer


def test_the_public_names_are_these() -> None:
    assert quire.__all__ == [
        "BadInput",
        "Conflict",
        "NotFound",
        "NotebookExecutor",
        "QuireError",
        "Refused",
        "RunFailed",
        "Unavailable",
        "agent_functions",
        "check",
        "connect",
        "connect_async",
        "diff",
        "inspect_notebook",
        "notebook_commit",
        "notebook_create",
        "notebook_edit",
        "notebook_execute",
        "notebook_pr",
        "patch",
        "reproduce",
        "results",
        "run",
    ]
    assert all(getattr(quire, name) for name in quire.__all__)


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, quire; print([n for n in sys.modules if n.startswith('quire.') or n in ('msgspec', 'asyncio', 'sqlite3')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_error_has_its_answers() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, QuireError)]
    statuses = {kind.__name__: answer(kind("x")).exit_status for kind in kinds if kind is not QuireError}
    assert statuses == {"Refused": 3, "Conflict": 3, "NotFound": 2, "BadInput": 2, "RunFailed": 1, "Unavailable": 4}
