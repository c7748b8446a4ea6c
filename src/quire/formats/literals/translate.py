"""Parameters as source code: the cell that a run puts under the defaults.

Papermill's languages, and its first line. A value is exactly the same in the language, or
it is refused by name: none becomes text that nobody asked for, and none can be more than
one expression. A language is a writer in a module beside this one and a line in `_WRITERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from ...core.errors import BadInput
from .writer_base import LiteralWriter, Unfit

COMMENT = "Parameters"
_WRITERS = {
    "python": ("python", "Python"),
    "r": ("r", "R"),
    "scala": ("scala", "Scala"),
    "julia": ("julia", "Julia"),
    "matlab": ("matlab", "Matlab"),
    "octave": ("matlab", "Octave"),
    "csharp": ("dotnet", "CSharp"),
    "fsharp": ("dotnet", "FSharp"),
    "powershell": ("dotnet", "PowerShell"),
    "bash": ("bash", "Bash"),
    "javascript": ("javascript", "JavaScript"),
    "typescript": ("javascript", "JavaScript"),
}
"""Where the writer of a language is: only the one that is needed is loaded."""
LANGUAGES = tuple(_WRITERS)
"""The languages that parameters can be written in."""
_ALSO = {
    "c#": "csharp", ".net-csharp": "csharp", "f#": "fsharp", ".net-fsharp": "fsharp", "pwsh": "powershell",
    ".net-powershell": "powershell", "sh": "bash", "ipython": "python", "ipython3": "python", "python3": "python",
    "pysparkkernel": "python", "sparkkernel": "scala", "sparkrkernel": "r", "ir": "r",
}  # fmt: skip
"""What kernels and notebooks call them besides."""


def known_language(language: str, kernel: str = "") -> str | None:
    """The name of the language here, told by the kernel's name first, as papermill does; None if it is not known."""
    for name in (kernel.lower(), language.lower()):
        if (found := _ALSO.get(name, name)) in _WRITERS:
            return found
    return None


def translate(values: Mapping[str, Any], language: str, *, comment: str = COMMENT) -> str:
    """Return the source that gives each name its value."""
    writer = _writer(language, values)
    lines = [_line(writer, name, value) for name, value in values.items()]
    return "".join(f"{line}\n" for line in (writer.comment.format(comment), *writer.imports(), *lines))


def fits(name: str, value: Any, language: str) -> bool:
    """Whether the language can hold the value, under that name."""
    try:
        _line(_writer(language, (name,)), name, value)
    except BadInput:
        return False
    return True


def _writer(language: str, names: Any) -> LiteralWriter:
    known = known_language(language)
    if known is None:
        told = f"parameters cannot be written in {language!r}: the languages are {', '.join(LANGUAGES)}."
        raise BadInput(f"{told} Run it without parameters, or name another with -l.", language=language)
    module, name = _WRITERS[known]
    return cast("LiteralWriter", getattr(import_module(f".{module}", __package__), name)(frozenset(names)))


def _line(writer: LiteralWriter, name: str, value: Any) -> str:
    if not writer.is_name(name):
        told = f"parameter {name[:80]!r}: no variable can have that name in {writer.language}. Choose another name."
        raise BadInput(told, parameter=name)
    try:
        return writer.assign(name, value)
    except Unfit as error:
        told = f"parameter {name!r}: a value of type {error.type} cannot be written in {writer.language}: {error}."
        raise BadInput(f"{told} Pass it in another form, or in parts.", parameter=name, type=error.type) from None
