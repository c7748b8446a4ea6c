"""Check that src/quire/core is pure: the same input, the same answer, on any machine at any time.

import-linter sees imports; this sees calls as well. What core needs from the world is an argument.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

CLOCK = "reads the clock: take the time as an argument"
CHANCE = "answers differently each time: take the id or the seed as an argument"
WORLD = "reaches outside: take what it would read as an argument, return what it would write"

IMPORTS = {
    "time": CLOCK,
    **dict.fromkeys(("random", "secrets", "uuid"), CHANCE),
    **dict.fromkeys(("asyncio", "io", "logging", "os", "pathlib", "shutil", "socket", "sqlite3"), WORLD),
    **dict.fromkeys(("subprocess", "tempfile", "threading", "zoneinfo"), WORLD),
}


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the description of everything impure in a module."""
    clocks = {name for node in ast.walk(tree) for name in _names_from_datetime(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, fault) for alias in names for fault in _of_import(alias.name))
            case ast.ImportFrom(module=str(module), level=0):
                yield from ((node.lineno, fault) for fault in _of_import(module))
            case ast.Call(func=ast.Name(id="input" | "open" | "print" as name)):
                yield node.lineno, f"{name}() {WORLD}"
            case ast.Attribute(attr="now" | "today" | "utcnow") if _root(node) in clocks:
                yield node.lineno, f"{ast.unparse(node)} {CLOCK}"
            case _:
                pass


def _of_import(module: str) -> list[str]:
    fault = IMPORTS.get(module.partition(".")[0])
    return [f"{module} {fault}"] if fault else []


def _names_from_datetime(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.asname or alias.name for alias in names if alias.name == "datetime"]
        case ast.ImportFrom(module="datetime", names=names):
            return [alias.asname or alias.name for alias in names]
        case _:
            return []


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def main() -> int:
    """Print every fault as file:line; return the exit status."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in sorted((ROOT / "src/quire/core").rglob("*.py"))
        for line, fault in sorted(faults(ast.parse(path.read_text("utf-8"))))
    ]
    print("\n".join(found) or "core is pure")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
