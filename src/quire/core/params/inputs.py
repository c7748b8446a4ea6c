"""The files that a notebook declares to read.

They are declared under `inputs` in the frontmatter or metadata, or in the `# /// script` block of a cell
under `[tool.quire]`. A path may have parameters in it, `{month}`, and may be a pattern, `data/*.csv`.
Nothing here looks at a disk: runs/environment/input_files.py does.
"""

from __future__ import annotations

from typing import Any, cast

from ..errors import BadInput
from ..results import script_table
from ..sheet.sheet import Sheet
from ..values import Json

KEY = "inputs"
"""The key in the metadata, and in the script block."""


def declared_inputs(sheet: Sheet) -> tuple[str, ...]:
    """Return the paths that a notebook declares, as they are written; both places together."""
    return tuple(dict.fromkeys((*_paths(_in_script(sheet)), *_paths(sheet.ours.get(KEY)))))


def _in_script(sheet: Sheet) -> Json:
    table: Any = script_table(sheet)
    for name in ("tool", "quire"):
        table = cast("dict[str, Any]", table).get(name, {})
        if not isinstance(table, dict):
            return None
    return cast("dict[str, Any]", table).get(KEY)


def _paths(said: Json) -> tuple[str, ...]:
    if said is None:
        return ()
    paths = cast("list[Any]", said) if isinstance(said, list) else [said]
    for path in paths:
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise BadInput(f"`{KEY}` is a list of paths, such as [data/sales.csv]; {path!r:.80} is none.")
    return tuple(cast("list[str]", paths))
