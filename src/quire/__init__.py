"""Quire: notebooks that people, LLM agents and machines share, as a log of attributed events.

This is the public API; everything else may change. It loads when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connect import connect as connect
    from .core.errors import (
        BadInput as BadInput,
    )
    from .core.errors import (
        Conflict as Conflict,
    )
    from .core.errors import (
        NotFound as NotFound,
    )
    from .core.errors import (
        QuireError as QuireError,
    )
    from .core.errors import (
        Refused as Refused,
    )
    from .core.errors import (
        RunFailed as RunFailed,
    )
    from .core.errors import (
        Unavailable as Unavailable,
    )

__version__ = "0.1.0.dev0"

_HOMES = {
    "connect": "connect",
    **dict.fromkeys(
        ("QuireError", "Refused", "Conflict", "NotFound", "BadInput", "RunFailed", "Unavailable"), "core.errors"
    ),
}
__all__ = ["BadInput", "Conflict", "NotFound", "QuireError", "Refused", "RunFailed", "Unavailable", "connect"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'quire' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
