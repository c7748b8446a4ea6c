"""Print the ten longest functions, classes and files of src/, in lines. Nothing fails: it is a mirror."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Size(NamedTuple):
    """How long a named thing is, and where it starts."""

    lines: int
    kind: str
    name: str
    place: str


def sizes(path: Path) -> Iterator[Size]:
    """Yield the size of a Python file and of everything defined in it."""
    text, place = path.read_text("utf-8"), str(path.relative_to(ROOT))
    yield Size(text.count("\n"), "files", "", place)
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                kind = "functions"
            case ast.ClassDef():
                kind = "classes"
            case _:
                continue
        yield Size((node.end_lineno or node.lineno) - node.lineno + 1, kind, node.name, f"{place}:{node.lineno}")


def main() -> None:
    """Print the three lists."""
    every = sorted((size for path in ROOT.glob("src/**/*.py") for size in sizes(path)), reverse=True)
    for kind in ("functions", "classes", "files"):
        print(f"Longest {kind}")
        for size in [size for size in every if size.kind == kind][:10]:
            print(f"{size.lines:6}  {size.place}  {size.name}".rstrip())


if __name__ == "__main__":
    main()
