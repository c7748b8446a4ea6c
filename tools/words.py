"""Print what in src/ a newcomer would not guess: crowded folders, names used twice, bare gerunds and participles.

Nothing fails: it is a mirror. A name that is right all the same stands in one of the three lists, with the reason.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "quire"
MOST_MODULES = 16
EXCEPTIONS = {
    "detached": "a detached run: one that outlives who started it",
    "ring": "a ring buffer",
    "Ring": "a ring buffer",
    "Heading": "a heading in Markdown",
    "Binding": "a notebook bound to a file: the glossary's word",
    "finding": "a finding of a linter: the field's word",
    "Finding": "a finding of a linter: the field's word",
    "Refused": "one of the six errors",
    "Raised": "an output, as docs/reference and the web app name it",
    "Imported": "an event's author, as docs/reference names it",
    "Known": "an actor, as docs/reference names it",
}
"""Words that look like gerunds or participles, and may stay."""
SHARED_MODULES = {
    "format": "each format's `read` and `write`, which formats/registry.py finds by this name",
    "options": "what a command line takes: that of ours, and that of pytest",
    "prune": "the same part of two stores",
    "query": "the same part of two stores",
    "writer": "the same part of two stores",
}
SHARED_CLASSES = {
    "NotebookFile": "a pytest.File as pytest names its own: `--collect-only` shows it; and a file that the API lists",
    "Notebook": "scrapbook's own word: quire/scrapbook.py offers its API under its names",
}
"""Names that stand in several places and mean the same in each, or that are not ours to choose."""
_BARE = re.compile(
    r"_?([A-Za-z][a-z]*(ing|ed)|[Tt]old|[Ll]eft|[Kk]ept|[Ss]hown|[Ff]ound|[Hh]eld|[Ss]een|[Ss]aid|[Hh]eard|[Ss]ent|[Rr]an)"
)


def modules() -> list[Path]:
    """Return every module of ours but the `__init__` files."""
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")


def classes(paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each class that a module defines, with the module."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, path


def places(named: Iterable[tuple[str, Path]], shared: Collection[str]) -> dict[str, list[str]]:
    """Return where each name stands, for those that stand in several places and are not known to be shared."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, path in named:
        found[name].append(str(path.relative_to(SOURCE)))
    return {name: each for name, each in sorted(found.items()) if len(each) > 1 and name not in shared}


def bare(names: Iterable[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Return the names that are a gerund or a participle, and nothing more."""
    return [(name, path) for name, path in names if _BARE.fullmatch(name) and name not in EXCEPTIONS]


def show(heading: str, lines: Iterable[str]) -> None:
    """Print a list, or that it is empty."""
    listed = list(lines)
    print(f"{heading}: {len(listed)}")
    for line in listed:
        print(f"  {line}")


def main() -> None:
    """Print the five lists."""
    paths = modules()
    folders: dict[Path, int] = defaultdict(int)
    for path in paths:
        folders[path.parent] += 1
    crowded = [(folder, count) for folder, count in sorted(folders.items()) if count > MOST_MODULES]
    stems = [(path.stem, path) for path in paths]
    defined = list(classes(paths))
    public = [(name, path) for name, path in defined if not name.startswith("_")]
    show(
        f"Folders of more than {MOST_MODULES} modules",
        (f"{path.relative_to(ROOT)}: {count}" for path, count in crowded),
    )
    show(
        "Module names in several folders",
        (f"{name}: {', '.join(at)}" for name, at in places(stems, SHARED_MODULES).items()),
    )
    show(
        "Classes defined more than once",
        (f"{name}: {', '.join(at)}" for name, at in places(public, SHARED_CLASSES).items()),
    )
    show("Modules named by a bare gerund or participle", (str(path.relative_to(ROOT)) for _, path in bare(stems)))
    show("Classes named by one", (f"{name}: {path.relative_to(ROOT)}" for name, path in bare(defined)))


if __name__ == "__main__":
    main()
