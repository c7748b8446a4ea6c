"""Makes the .ipynb files of the corpus: `python -m tests.notebooks.make [NAME…]`.

What a kernel puts out is put out by a real one, through nbclient; the rest is written in the
recipes. The same sources give the same files, but for the version of Python in them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any, cast

import nbformat
from nbclient import NotebookClient

from .recipes import executed, kernels, shapes
from .recipes.parts import Fields

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    """Write the notebooks that are named, or all."""
    for recipe in chain(executed.recipes(), kernels.recipes(), shapes.recipes()):
        if not names or recipe.name in names:
            made = run(recipe.notebook) if recipe.run else recipe.notebook
            if recipe.after is not None:
                recipe.after(made)
            # Half a surrogate pair is in no UTF-8: only the style that escapes may hold one.
            (HERE / f"{recipe.name}.ipynb").write_bytes(recipe.style.text(made).encode())


def run(notebook: Fields) -> Fields:
    """Run a notebook from top to bottom, in a folder of its own, whatever its cells raise."""
    node = cast("Any", nbformat).from_dict(notebook)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(node, allow_errors=True, record_timing=False, resources={"metadata": {"path": folder}})
        client.execute()
    for cell in node["cells"]:
        if "outputs" in cell:
            cell["outputs"] = tidy(joined(cell["outputs"]))
    return node


def joined(outputs: list[Fields]) -> list[Fields]:
    """What one stream says in one go is one output, however many messages it took."""
    made: list[Fields] = []
    for output in outputs:
        if made and output["output_type"] == "stream" == made[-1]["output_type"] and output["name"] == made[-1]["name"]:
            made[-1]["text"] += output["text"]
        else:
            made.append(output)
    return made


def tidy(value: Any) -> Any:
    """Say nothing of this machine: no addresses in memory, no numbers of processes, no folders."""
    if isinstance(value, dict):
        return {key: tidy(each) for key, each in cast("Fields", value).items()}
    if isinstance(value, list):
        return [tidy(each) for each in cast("list[Any]", value)]
    if isinstance(value, str):
        value = re.sub(r"\b0x[0-9a-f]{9,}\b", "0x7f0000000000", value.replace(sys.prefix, "/home/ada/.venv"))
        return re.sub(r"/tmp/ipykernel_\d+/", "/tmp/ipykernel_1/", value)
    return value


if __name__ == "__main__":
    main(sys.argv[1:])
