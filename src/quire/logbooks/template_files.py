"""Templates of logbooks as files: where they are, which one somebody means, what one says, and a new one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from ..core.errors import BadInput, Conflict, NotFound
from ..core.ids import nearest
from ..core.params.parameters import Parameter, declared
from ..core.sheet.sheet import Sheet
from ..disk import check_writable, read_text, write_text
from ..formats import registry
from ..formats.logbook.reader import take_apart
from ..formats.logbook.run_export import again
from ..formats.starter_notebook import title_of

TEMPLATES = Path("logbooks", "templates")
RUNS = Path("logbooks", "runs")
ENDING = ".md"
_NAME = re.compile(r"[\w][\w .-]{0,99}")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)

STARTER = """\
---
parameters:
  name: {{default: World, help: whom it is about}}
---

# {title}

{task}

## Look

```python
print(f"This is about {{name}}.")
```

## Judge

Say in one or two sentences what the output above means for {{name}}.
"""
"""A template to begin with: a parameter, a step of code, a step of prose."""


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A template, read."""

    name: str
    """Its file's, without the ending."""
    path: str
    """From the root on, with slashes; of a file elsewhere, the whole path."""
    file: Path
    text: str
    sheet: Sheet
    """Of a run's own file without what that run said of itself."""
    parameters: tuple[Parameter, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of its text."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def title(self) -> str:
        """What its frontmatter, or its first heading, calls it."""
        said = self.sheet.ours.get("title")
        if isinstance(said, str) and said:
            return said
        prose = (cell.source for cell in self.sheet.cells if cell.kind == "markdown")
        return next((found[1] for text in prose if (found := _HEADING.search(text)) is not None), self.name)


def find_root(here: Path, fallback: Path) -> Path:
    """Return the folder whose `logbooks/` counts in `here`: the nearest upwards that has one, else `fallback`."""
    return next((folder for folder in (here, *here.parents) if (folder / TEMPLATES).is_dir()), fallback)


def template_paths(root: Path) -> list[Path]:
    """Return the files of the templates, by name; hidden ones are none."""
    found = (root / TEMPLATES).rglob(f"*{ENDING}") if (root / TEMPLATES).is_dir() else ()
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def find_template(root: Path, wanted: str, here: Path | None = None) -> Path:
    """Return the file of the template of that name, or at that path from `here` or the root on."""
    for base in (here or root, root):
        file = base / wanted
        if registry.ending_of(wanted) == ENDING and file.is_file():
            return file
    known = {path.relative_to(root / TEMPLATES).with_suffix("").as_posix(): path for path in template_paths(root)}
    name = wanted.removesuffix(ENDING)
    by_stem = [path for key, path in known.items() if key.rpartition("/")[2] == name]
    if name in known or len(by_stem) == 1:
        return known.get(name) or by_stem[0]
    if by_stem:
        raise BadInput(f"Several templates are called {name}: {', '.join(map(str, by_stem))}. Name one by its path.")
    close = nearest(name, known)
    hint = (
        f"Nearest: {', '.join(close)}."
        if close
        else f"Templates lie in {root / TEMPLATES}; `quire logbook new` makes one."
    )
    raise NotFound(f"There is no template {wanted!r}. {hint}", nearest=close)


def read_template(root: Path, file: Path) -> Template:
    """Read a template. Without frontmatter it is refused: that is where it says what it takes."""
    text, path = read_text(file), path_from(root, file)
    if not take_apart(text.removeprefix("\ufeff"), path).front.text:
        told = f"{path} has no frontmatter, which says what a logbook takes"
        raise BadInput(f"{told}. Begin it with the lines `---`, `parameters: {{}}` and `---`.", path=path)
    sheet = again(registry.read(text, path))
    try:
        parameters = tuple(declared(sheet))
    except BadInput as error:
        raise BadInput(f"{path}: {error}", **error.details) from None
    return Template(name=file.stem, path=path, file=file, text=text, sheet=sheet, parameters=parameters)


def path_from(root: Path, file: Path) -> str:
    """Return the path of a file from the root on, or the whole of it where it lies elsewhere."""
    whole = file.absolute()
    return whole.relative_to(root.absolute()).as_posix() if whole.is_relative_to(root.absolute()) else str(whole)


def new_template(root: Path, name: str, task: str) -> Path:
    """Write a new template and return its path; one that is there stays as it is."""
    if not _NAME.fullmatch(name.removesuffix(ENDING)):
        raise BadInput(f"A template's name is letters, digits, spaces and . _ -, not {name[:80]!r}.")
    file = root / TEMPLATES / f"{name.removesuffix(ENDING)}{ENDING}"
    check_writable(file)
    if file.exists():
        raise Conflict(f"{path_from(root, file)} is there already. Edit it, or choose another name.")
    title = title_of(task) if task else name.removesuffix(ENDING).replace("_", " ")
    write_text(file, STARTER.format(title=title, task=task or "What this is for, and when to run it."))
    return file


def run_paths(root: Path) -> Iterator[Path]:
    """Yield the files of runs, the last day first."""
    days = sorted((root / RUNS).iterdir(), reverse=True) if (root / RUNS).is_dir() else ()
    for day in days:
        if day.is_dir():
            yield from sorted(day.glob(f"*{ENDING}"))
