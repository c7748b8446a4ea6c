"""Quire: notebooks that people, LLM agents and machines share, as a log of attributed events.

This is the public API; everything else may change. It loads when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.errors import BadInput, Conflict, NotFound, QuireError, Refused, RunFailed, Unavailable
    from .doors.python.live_workspace import connect, connect_async
    from .doors.python.notebook_executor import NotebookExecutor
    from .review.checks.check import check
    from .runs.api import run
    from .runs.notebook_diff import diff, patch
    from .runs.notebook_inspection import inspect_notebook
    from .runs.records.result_rows import results
    from .runs.reproduce.reproduce_run import reproduce
    from .verbs.agent_functions import (
        agent_functions,
        notebook_commit,
        notebook_create,
        notebook_edit,
        notebook_execute,
        notebook_pr,
    )

__version__ = "0.1.0.dev0"
__all__ = [
    "BadInput", "Conflict", "NotFound", "NotebookExecutor", "QuireError", "Refused", "RunFailed", "Unavailable",
    "agent_functions", "check", "connect", "connect_async", "diff", "inspect_notebook", "notebook_commit", "notebook_create",
    "notebook_edit", "notebook_execute", "notebook_pr", "patch", "reproduce", "results", "run",
]  # fmt: skip
_MODULES = {
    "NotebookExecutor": ".doors.python.notebook_executor",
    "agent_functions": ".verbs.agent_functions",
    "check": ".review.checks.check",
    "connect": ".doors.python.live_workspace",
    "connect_async": ".doors.python.live_workspace",
    "diff": ".runs.notebook_diff",
    "inspect_notebook": ".runs.notebook_inspection",
    "notebook_commit": ".verbs.agent_functions",
    "notebook_create": ".verbs.agent_functions",
    "notebook_edit": ".verbs.agent_functions",
    "notebook_execute": ".verbs.agent_functions",
    "notebook_pr": ".verbs.agent_functions",
    "patch": ".runs.notebook_diff",
    "reproduce": ".runs.reproduce.reproduce_run",
    "results": ".runs.records.result_rows",
    "run": ".runs.api",
}
"""Where a name lives; the others are errors."""


def __getattr__(name: str) -> Any:
    """Find a public name where it lives, the first time it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'quire' has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, ".core.errors"), __name__), name)
