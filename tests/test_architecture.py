"""The map of the house names files and functions that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
SOURCE = ROOT / "src" / "quire"


def steps() -> list[tuple[str, str]]:
    """The file and the function or class of each step of a journey."""
    blocks = re.findall(r"^```\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [(line.split()[0], line.split()[1]) for block in blocks for line in block.splitlines()]


def test_every_step_of_a_journey_is_a_function_or_class_of_its_file() -> None:
    found = steps()
    assert len(found) > 40
    missing: list[str] = []
    for place, name in found:
        path = SOURCE / place
        defined = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
        names = {
            node.name for node in defined if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        if name not in names:
            missing.append(f"{place}: {name}")
    assert missing == []


def test_every_part_of_the_house_is_on_the_map() -> None:
    table = PAGE.read_text("utf-8").split("## `quire run")[0]
    for path in SOURCE.iterdir():
        if path.name.startswith("__") or path.name == "py.typed":
            continue
        assert f"`{path.name}`" in table, f"{path.name} is not on the map"
        for room in path.iterdir() if path.is_dir() else ():
            if (room / "__init__.py").is_file():
                assert f"`{room.name}/`" in table, f"{path.name}/{room.name} is not on the map"
