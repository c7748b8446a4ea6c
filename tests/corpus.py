"""The corpus: notebooks of every kind we could think of, as files, and builders for the large ones.

tests/notebooks/README.md says what each is there for. The large ones are built when a test asks.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "notebooks"

IPYNB: list[Path] = sorted(HERE.glob("*.ipynb"))
PERCENT: list[Path] = sorted((HERE / "percent").glob("*.*"))
"""Scripts with cell marks: Python, and some in other languages."""
MARKDOWN: list[Path] = sorted((HERE / "markdown").glob("*.*"))
"""Logbooks, and what Jupytext writes as Markdown."""
NOTEBOOKS: list[Path] = [*IPYNB, *PERCENT, *MARKDOWN]

UNKNOWN_FIELDS = frozenset({"newer-minor.ipynb", "unknown-fields.ipynb"})
"""Valid but for fields that nbformat does not know; it takes them with `relax_add_props`."""
SURROGATES = frozenset({"surrogates.ipynb"})
"""Hold half a surrogate pair: JSON can escape it, no UTF-8 text can hold it."""


def text_of(path: Path) -> str:
    """What a file of the corpus says, line ends as they are."""
    return path.read_bytes().decode()


def ids_of(path: Path) -> str:
    """The name of a notebook of the corpus."""
    return str(path.relative_to(HERE))


def for_each(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a check of one notebook: it goes through all of them, and tells of every one that fails.

    Hundreds of tests of a few milliseconds each would spend most of their time on being tests.
    """

    def made(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            failed: list[Exception] = []
            for path in paths:
                try:
                    check(path)
                except Exception as error:
                    error.add_note(f"with {ids_of(path)}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} notebooks fail", failed)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return made


def many_cells(count: int = 5000) -> str:
    """A valid notebook of `count` cells, Markdown and code with outputs by turns, as nbformat writes it."""
    return _text([_cell(number) for number in range(count)])


def huge_outputs(megabytes: int = 20) -> str:
    """A valid notebook of few cells whose outputs are about that large: text, a picture, JSON and HTML."""
    quarter = megabytes * 250_000
    line = "INFO 2026-10-01T06:00:00 step finished, nothing to see here, move along to the next line\n"
    picture = base64.b64encode(bytes(range(256)) * (quarter * 3 // 4 // 256)).decode()
    rows = "".join(f"<tr><td>{number}</td></tr>\n" for number in range(quarter // 24))
    outputs: list[Any] = [
        {"name": "stdout", "output_type": "stream", "text": [line] * (quarter // len(line))},
        {"data": {"image/png": picture}, "metadata": {}, "output_type": "display_data"},
        {"data": {"application/json": list(range(quarter // 14))}, "metadata": {}, "output_type": "display_data"},
        {
            "data": {"text/html": f"<table>\n{rows}</table>".splitlines(True)},
            "metadata": {},
            "output_type": "display_data",
        },
    ]
    return _text([_code(number, f"make({number})", [output]) for number, output in enumerate(outputs)])


def _cell(number: int) -> dict[str, Any]:
    if number % 5 == 0:
        source = [f"## Part {number // 5}\n", "\n", "Some *prose*."]
        return {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {}, "source": source}
    text = [f"value {number}\n", f"{number * number}\n"]
    output = {"name": "stdout", "output_type": "stream", "text": text}
    return _code(number, f"x_{number} = {number}\nprint('value', x_{number})\nprint(x_{number} ** 2)", [output])


def _code(number: int, source: str, outputs: list[Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": f"cell-{number}",
        "metadata": {},
        "outputs": outputs,
        "source": source.splitlines(keepends=True),
    }


def _text(cells: list[dict[str, Any]]) -> str:
    metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.11.2"},
    }
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": ")) + "\n"
