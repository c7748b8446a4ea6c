"""Quire: notebooks that people, LLM agents and machines share, as a log of attributed events.

This is the public API; everything else may change. It loads when it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connect import connect
    from .core.errors import BadInput, Conflict, NotFound, QuireError, Refused, RunFailed, Unavailable
    from .runs.api import run
    from .runs.executor import NotebookExecutor, inspect_notebook
    from .runs.results import results
    from .verbs.functions import agent_functions, notebook_create, notebook_edit, notebook_execute

__version__ = "0.1.0.dev0"
__all__ = [
    "BadInput", "Conflict", "NotFound", "NotebookExecutor", "QuireError", "Refused", "RunFailed", "Unavailable",
    "agent_functions", "connect", "inspect_notebook", "notebook_create", "notebook_edit", "notebook_execute", "results", "run",
]  # fmt: skip
_MODULES = {
    "NotebookExecutor": ".runs.executor",
    "agent_functions": ".verbs.functions",
    "inspect_notebook": ".runs.executor",
    "notebook_create": ".verbs.functions",
    "notebook_edit": ".verbs.functions",
    "notebook_execute": ".verbs.functions",
    "results": ".runs.results",
    "run": ".runs.api",
}
"""Where a name lives; the others are errors."""


class _Package(ModuleType):
    """Finds each public name where it lives, the first time it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'quire' has no attribute {name!r}")
        return getattr(import_module(_MODULES.get(name, ".core.errors"), __name__), name)

    @property
    def connect(self) -> Any:
        """The function, not the module of the same name."""
        return import_module(".connect", __name__).connect

    @connect.setter
    def connect(self, module: ModuleType) -> None:
        """Importing quire.connect would put that module here; the function stays."""


sys.modules[__name__].__class__ = _Package
