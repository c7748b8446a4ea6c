"""A notebook as the text that `git log -p`, `git show` and `git blame` compare: sources, and a line above each.

Git starts this twice for every notebook in every commit it shows. So it goes without our
own readers where it can: half of them would be loaded before the first line is out.
"""

from __future__ import annotations

import json
import sys
from typing import Any, cast

from ..core.visible import visible

MARKER = "# %%"
"""How each cell begins, and so the whole text: no JSON does."""


def textconv(path: str) -> int:
    """Print the file as text. What is no notebook is printed as it is: `git log` must go on."""
    with open(path, "rb") as file:  # noqa: PTH123  pathlib takes longer to load than all the rest
        data = file.read()
    sys.stdout.buffer.write(as_text(data, path).encode("utf-8", "surrogatepass") if data.strip() else data)
    sys.stdout.buffer.flush()
    return 0


def as_text(data: bytes, path: str) -> str:
    """The sources of an .ipynb file, each below a line with the cell's kind, name and tags."""
    try:
        fields: Any = json.loads(data)
        if fields["nbformat"] == 4:
            return "".join(_cell(cell) for cell in fields["cells"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return _read_with_care(data, path)


def _cell(cell: dict[str, Any]) -> str:
    metadata: dict[str, Any] = cell.get("metadata", {})
    ours: Any = metadata.get("quire")
    marked: Any = cast("dict[str, Any]", ours).get("kind") if isinstance(ours, dict) else None
    source: Any = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return shown(marked or cell["cell_type"], metadata.get("name"), metadata.get("tags"), text)


def shown(kind: str, name: str | None, tags: list[str] | None, source: str) -> str:
    """One cell, the way a percent script would have it, but for comment signs."""
    marker = [MARKER]
    if kind != "code":
        marker.append(f"[{kind}]")
    if name:
        marker.append(f"name={json.dumps(name, ensure_ascii=False)}")
    if tags:
        marker.append(f"tags={json.dumps(tags, ensure_ascii=False)}")
    # Every line of the source and its last line end can be seen; a cell with nothing in it is one line.
    head = visible(" ".join(marker))
    return f"{head}\n{visible(source)}\n" if source else f"{head}\n"


def _read_with_care(data: bytes, path: str) -> str:
    """Something else than plain nbformat 4: an older notebook, or none."""
    from ..core.errors import QuireError
    from ..formats.registry import read

    text = data.decode("utf-8", "backslashreplace")
    try:
        sheet = read(text, f"{path}.ipynb")
    except QuireError:
        return text
    return "".join(shown(cell.kind, cell.name, list(cell.tags), cell.source) for cell in sheet.cells)
