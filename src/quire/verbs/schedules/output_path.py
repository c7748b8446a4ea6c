"""Where the runs of a schedule may leave a file: inside the workspace's folder, as a notebook, not over a source."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ...core.errors import BadInput
from ...core.schedule.template import fill_output
from ...formats import registry

_EXAMPLE = {"date": "2026-01-31", "time": "06:00", "run_number": 1, "schedule": "name"}


def check_output_template(folder: Path, path: str) -> None:
    """Refuse an output path that would lead out of the folder whatever is filled in, or is no notebook's."""
    check_output(folder, fill_output(path, dict(_EXAMPLE)))


def check_output(folder: Path, path: str) -> None:
    """Refuse a path that leads out of the folder, through a link too, or into what is hidden."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\0" in path or "://" in path:
        raise BadInput(f"output {path[:200]!r} leads out of the workspace's folder. Name a path inside {folder}.")
    if any(part.startswith(".") for part in parts.parts):
        raise BadInput(f"output {path[:200]!r} is hidden, where settings of others are. Choose another name.")
    registry.format_of(path)
    real, top = (folder / path).resolve(), folder.resolve()
    if not real.is_relative_to(top):
        raise BadInput(f"output {path[:200]!r} leads out of the workspace's folder by a link, to {real}.")


def check_source(folder: Path, path: str) -> str:
    """Return the path of a notebook file from the folder on; refuse one that is not there or elsewhere."""
    given = Path(path)
    real, top = (given if given.is_absolute() else folder / given).resolve(), folder.resolve()
    if not real.is_relative_to(top):
        raise BadInput(f"{path[:200]!r} is not in the workspace's folder {folder}. A schedule runs files from there.")
    if not real.is_file():
        raise BadInput(f"There is no file {path[:200]!r} in {folder}. Name a notebook that is there.")
    registry.format_of(str(real))
    return real.relative_to(top).as_posix()
