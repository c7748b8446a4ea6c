"""Which format a file has, by its ending, and how to read and write it.

A new format is a module with `read` and `write` and a line here. Each module is imported
when the first file of its kind comes by.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Literal, Protocol, TypeAlias, cast

from ..core.errors import BadInput
from ..core.sheet.sheet import Sheet

Format: TypeAlias = Literal["ipynb", "percent", "logbook", "jupytext", "html"]

ENDINGS: dict[str, Format] = {
    ".ipynb": "ipynb",
    ".py": "percent",
    ".md": "logbook",
    ".html": "html",
    ".rmd": "jupytext",
    ".qmd": "jupytext",
}
"""Ending, in lower case, to format. Those of LANGUAGES are percent files, too."""
LANGUAGES: dict[str, tuple[str, ...]] = {
    ".py": ("python", "ipython"),
    ".r": ("r",),
    ".jl": ("julia",),
    ".sh": ("bash", "sh", "shell", "zsh"),
    ".scala": ("scala",),
    ".m": ("matlab", "octave"),
    ".cs": ("c#", "csharp"),
    ".fs": ("f#", "fsharp"),
    ".ps1": ("powershell", "pwsh"),
    ".js": ("javascript",),
    ".ts": ("typescript",),
}
"""Ending to the names that kernels give the language of such a script."""
ENDINGS.update({ending: "jupytext" for ending in LANGUAGES if ending not in ENDINGS})
_MODULES: dict[Format, str] = {
    "ipynb": ".ipynb.format",
    "percent": ".percent.format",
    "logbook": ".logbook.format",
    "jupytext": ".percent.jupytext",
    "html": ".html.format",
}
"""Where each format is read and written: only the one that is needed is loaded."""
_BOM = "\ufeff"


class _Module(Protocol):
    def read(self, text: str, path: str) -> Sheet: ...
    def write(self, sheet: Sheet, path: str, like: str | None, was: Sheet | None) -> str: ...


def format_of(path: str) -> Format:
    """The format that the ending of a path says."""
    ending = ending_of(path)
    if path in ("-", "-.None"):
        raise BadInput("Standard input and output have no ending that says the format. Name a file, or pass --to.")
    if ending not in ENDINGS:
        known = ", ".join(sorted(ENDINGS))
        raise BadInput(f"{path}: the ending says the format, and {ending or 'none'!r} says nothing. Known: {known}.")
    return ENDINGS[ending]


def check_language(sheet: Sheet, target: str) -> None:
    """Refuse a script with the ending of another language: it would not run."""
    wanted = LANGUAGES.get(ending_of(target))
    if wanted is not None and sheet.language not in wanted:
        fitting = next((ending for ending, names in LANGUAGES.items() if sheet.language in names), ".md")
        raise BadInput(
            f"{target} would be a script in {wanted[0]}, but the notebook is written in {sheet.language}. "
            f"Choose the ending {fitting}."
        )


def ending_of(path: str) -> str:
    """`.py` of `notebooks/Sales.PY`."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return f".{name.rpartition('.')[2].lower()}" if "." in name[1:] else ""


def read(text: str, path: str) -> Sheet:
    """Return the notebook that the file at `path` holds. The path says the format, and stands in messages."""
    return _module(path, text).read(text.removeprefix(_BOM), path)


def write(sheet: Sheet, path: str, like: str | None = None, was: Sheet | None = None) -> str:
    """Return the notebook as the text of a file at `path`.

    `like` is that file as it was: what did not change keeps its bytes. `was` is the notebook
    that was read from it, where that is at hand: it need not be read again.
    """
    if like is None or like == "":
        return _module(path, None).write(sheet, path, None, None)
    bom = _BOM * like.startswith(_BOM)
    return bom + _module(path, like).write(sheet, path, like.removeprefix(_BOM), was)


def _module(path: str, text: str | None) -> _Module:
    name = format_of(path)
    if name == "logbook" and text is not None and _is_jupytext_markdown(text):
        name = "jupytext"
    return cast("_Module", import_module(_MODULES[name], __package__))


def _is_jupytext_markdown(text: str) -> bool:
    """Whether the frontmatter of a Markdown file says that it is one of Jupytext's kinds of Markdown."""
    text = text.removeprefix(_BOM)
    if not text.startswith("---"):
        return False
    header = text[3:].partition("\n---")[0]
    # A logbook may have both keys further in, under `jupyter:`, of a notebook that Jupytext paired with a script.
    return re.search(r"^ +format_name: ['\"]?(markdown|myst|pandoc)\b|^kernelspec:", header, re.MULTILINE) is not None
