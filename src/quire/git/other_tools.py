"""Lines of other tools in git's settings and attributes that do what we do: found and named, never touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .config_block import without_block
from .repository import Repository, attempt, attributes_file

_SETTINGS = {
    "filter.nbstripout": "nbstripout",
    "diff.ipynb": "nbstripout",
    "diff.jupyternotebook": "nbdime",
    "merge.jupyternotebook": "nbdime",
}
_TOOLS = {"nbstripout": "nbstripout", "ipynb": "nbstripout", "jupyternotebook": "nbdime"}
_ATTRIBUTE = re.compile(r"\b(?:filter|diff|merge)=(?!quire\b)(\S+)")


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """Something of another tool, and how it is removed."""

    tool: str
    what: str
    where: str
    remove: str


def find_others(repository: Repository | None) -> list[Other]:
    """What nbstripout, nbdime and others left in git's settings and attributes."""
    files = [attributes_file("global"), attributes_file("system")]
    if repository is not None:
        files = [repository.attributes, repository.top / ".gitattributes", *files]
    return [*_in_settings(), *(other for file in files for other in _in_attributes(file, repository))]


def _in_settings() -> Iterator[Other]:
    wanted = "|".join(re.escape(section) for section in _SETTINGS)
    done = attempt("config", "--show-scope", "-z", "--name-only", "--get-regexp", rf"^({wanted})\.")
    words = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    found = dict.fromkeys((scope, key.rpartition(".")[0]) for scope, key in zip(words[::2], words[1::2], strict=True))
    for scope, section in found:
        tool = _SETTINGS[section]
        whose = f" --{scope}" if scope in ("global", "system") else ""
        verb = "nbstripout --uninstall" if tool == "nbstripout" else "nbdime config-git --disable"
        yield Other(tool=tool, what=section, where=f"the {scope} settings", remove=f"{verb}{whose}")


def _in_attributes(file: Path, repository: Repository | None) -> Iterator[Other]:
    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return
    for line in without_block(text).splitlines():
        # Of other filters only those that are meant for notebooks.
        for found in _ATTRIBUTE.finditer(line.partition("#")[0]):
            name = found[1]
            if name in _TOOLS or ".ipynb" in line:
                tool = _TOOLS.get(name, name)
                yield Other(tool=tool, what=line.strip(), where=str(file), remove=_removal(tool, file, repository))
                break


def _removal(tool: str, file: Path, repository: Repository | None) -> str:
    if tool != "nbstripout":
        # nbdime takes back its settings, but not its attributes.
        return f"delete the line from {file}"
    if repository is not None and file == repository.attributes:
        return "nbstripout --uninstall"
    return f"nbstripout --uninstall --attributes {file}"
