"""The top of a percent file: the line for the shell, the encoding, and YAML in comments.

    # ---
    # jupyter:
    #   kernelspec:
    #     name: python3
    # ---

What stands under `jupyter` is the notebook's metadata; any other names become a raw cell at
the top, as Jupytext has it. YAML is imported when there is some.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from ...core.errors import BadInput
from ...core.sheet.equality import same
from ...core.sheet.sheet import OURS
from ...core.values import Json
from ..logbook.frontmatter import read_front
from .cell_marker import is_marker
from .magics import commented, uncommented

JUPYTEXT = "jupytext"
_FORM = ("text_representation",)
_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-_.a-zA-Z0-9]")
_RULE = re.compile(r"---\s*$")
_SECTION = re.compile(r"jupyter\s*:\s*$")
# What Jupytext writes of a notebook's metadata, and what is ours.
_CARRIED = (JUPYTEXT, "kernelspec", "kernel_info", "orphan", "tocdepth", OURS)


class FileHeader(NamedTuple):
    """The top of a file."""

    metadata: dict[str, Json]
    source: str | None
    """The raw cell that other names than `jupyter` make."""
    stop: int
    """The first line below."""
    has_yaml: bool = False


def is_encoding(line: str) -> bool:
    """Whether Python would look for the encoding of a file in this line, were it at the top."""
    return "coding" in line and _ENCODING.match(line) is not None


def read_header(lines: Sequence[str], path: str) -> FileHeader:
    """Return what stands at the top of a file."""
    own: dict[str, Json] = {}
    start = 0
    if lines and lines[0].startswith("#!"):
        own["executable"] = lines[0][2:]
        start = 1
    if start < len(lines) and is_encoding(lines[start]) and not is_marker(lines[start]):
        own["encoding"] = lines[start]
        start += 1
    found = _yaml_lines(lines, start, path)
    if found is None:
        return FileHeader({JUPYTEXT: own} if own else {}, None, start)
    section, rest, stop = found
    metadata = _section(section, start, path)
    if own:
        old: Any = metadata.get(JUPYTEXT)
        metadata[JUPYTEXT] = (cast("dict[str, Json]", old) if isinstance(old, dict) else {}) | own
    if stop < len(lines) and not uncommented(lines[stop]).strip():
        stop += 1
    return FileHeader(metadata, "\n".join(["---", *rest, "---"]) if rest else None, stop, has_yaml=True)


def _yaml_lines(lines: Sequence[str], start: int, path: str) -> tuple[list[str], list[str], int] | None:
    """The lines under `jupyter`, blank where others stood; the others; and where all of it ends."""
    section: list[str] = []
    rest: list[str] = []
    started = inside = False
    for index in range(start, len(lines)):
        if not lines[index].startswith("#"):
            break
        line = uncommented(lines[index])
        if _RULE.match(line):
            if started:
                return section, rest, index + 1
            started = True
            section.append("")
            continue
        if not started and line.strip():
            return None
        if _SECTION.match(line):
            inside = True
        elif line and not line[0].isspace():
            inside = False
        section.append(line if inside else "")
        if not inside:
            rest.append(line)
    if any(section):
        line_number = start + 1 + next(index for index, line in enumerate(section) if line)
        raise BadInput(
            f"{path}: line {line_number}: the header with `jupyter:` has no end. Add a line `# ---` below it."
        )
    return None


def _section(section: Sequence[str], start: int, path: str) -> dict[str, Json]:
    if not any(section):
        return {}
    # As many lines as stand in the file, so that a fault is told with its line.
    text = "\n".join(["---", *[""] * start, *section[1:], "---", ""])
    return read_front(text, path).metadata


def jupytext_of(metadata: dict[str, Json]) -> dict[str, Json]:
    """Return the section of the metadata that says how the notebook is written as text."""
    found: Any = metadata.get(JUPYTEXT)
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def carried(metadata: dict[str, Json], *, asked: bool = False) -> dict[str, Json]:
    """Return the part of a notebook's metadata that a percent file says; {} when it says nothing.

    Nothing is said of a plain python3 notebook: an author who has not `asked` for a header
    gets none.
    """
    jupytext = _lasting(jupytext_of(metadata))
    kernel: Any = metadata.get("kernelspec")
    name: Any = cast("dict[str, Json]", kernel).get("name", "python3") if isinstance(kernel, dict) else "python3"
    only_language = jupytext == {"main_language": "python"}
    if not (asked or (jupytext and not only_language) or metadata.get(OURS) or name != "python3"):
        return {}
    wanted = {key for key in (*_CARRIED, *_filter(metadata)) if key in metadata and f"-{key}" not in _filter(metadata)}
    if "-all" in _filter(metadata):
        wanted &= {OURS, *_filter(metadata)}
    found = {key: value for key, value in metadata.items() if key in wanted and key != JUPYTEXT}
    return found | ({JUPYTEXT: jupytext} if jupytext and JUPYTEXT in wanted else {})


def said(metadata: dict[str, Json], *, asked: bool) -> dict[str, Json]:
    """Return what makes two headers the same: all they say but the form of the file itself."""
    own = jupytext_of(metadata)
    form = {key: value for key, value in jupytext_of(carried(metadata, asked=asked)).items() if key not in _FORM}
    rest = {key: value for key, value in carried(metadata, asked=asked).items() if key != JUPYTEXT}
    return rest | {JUPYTEXT: form, "top": [own.get("executable"), own.get("encoding")]}


def _lasting(jupytext: dict[str, Json]) -> dict[str, Json]:
    """What Jupytext's section says beyond the top lines of the file and the form of another file."""
    said = {key: value for key, value in jupytext.items() if key not in ("executable", "encoding")}
    form: Any = said.get("text_representation")
    if isinstance(form, dict) and cast("dict[str, Json]", form).get("extension") != ".py":
        del said["text_representation"]
    return said


def _filter(metadata: dict[str, Json]) -> list[str]:
    found: Any = jupytext_of(metadata).get("notebook_metadata_filter")
    keys = [key.strip().removeprefix("+") for key in found.split(",")] if isinstance(found, str) else []
    return [*keys, *metadata] if "all" in keys else keys


def write_header(metadata: dict[str, Json], source: str | None, path: str, *, asked: bool = False) -> list[str]:
    """Return the lines of the top of a file. `source` is that of a raw cell to put there."""
    own = jupytext_of(metadata)
    lines: list[str] = []
    if isinstance(executable := own.get("executable"), str):
        lines.append(f"#!{executable}")
    if isinstance(encoding := own.get("encoding"), str):
        lines.append(encoding)
    body = source.split("\n")[1:-1] if source is not None else []
    if found := carried(metadata, asked=asked):
        body += _dumped(found, path)
    if body:
        lines += map(commented, ["---", *body, "---"])
    return lines


def _dumped(metadata: dict[str, Json], path: str) -> list[str]:
    import yaml

    class HeaderDumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    try:
        text = yaml.dump({"jupyter": metadata}, Dumper=HeaderDumper, default_flow_style=False)
        if same(read_front(f"---\n{text}---\n", path).metadata, metadata):
            return text.splitlines()
    except (yaml.YAMLError, UnicodeError, RecursionError, BadInput):
        pass
    raise BadInput(
        f"{path}: the notebook's metadata cannot be written as YAML. Take out what is odd, or keep it as .ipynb."
    )
