"""What is recorded of a logbook's run before it begins: its template with revision, values, and the user's own words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, Protocol

from ..core.errors import BadInput, Unavailable
from ..core.ids import LogId
from ..core.notebook.logbook_record import LogbookMark, LogbookMode
from ..core.params.parameters import BoundParameters, Parameter, Text, bind
from ..core.values import tag
from ..formats.logbook.run_export import OF_A_RUN, uuid_of
from ..git.repository import attempt
from .template_files import ENDING, RUNS, Template, path_from

FILES = "logbook_files"
"""A parameter of this name is given the folder for a run's scratch files, beside the file of the run."""
MOST_REQUEST = 100_000
_GIT_SECONDS = 10.0
_ENV = {"GIT_OPTIONAL_LOCKS": "0"}


class ValuePrompter(Protocol):
    """Somebody who can be asked for a value before a run begins."""

    def value(self, name: str, *, is_secret: bool) -> str:
        """Return what was typed; nothing is no answer."""
        ...


def with_prompted(template: Template, values: Mapping[str, Any], ask: ValuePrompter | None) -> dict[str, Any]:
    """Return the values with those that somebody typed for parameters that have none."""
    made = dict(values)
    for parameter in template.parameters:
        is_missing = parameter.required and parameter.name not in made and parameter.name != FILES
        if ask is not None and is_missing and (typed := ask.value(_prompt(parameter), is_secret=False)):
            made[parameter.name] = Text(typed)
    return made


def _prompt(parameter: Parameter) -> str:
    words = [each for each in (parameter.help, parameter.type) if each]
    return f"{parameter.name} ({', '.join(words)})" if words else parameter.name


def with_files_folder(
    template: Template, root: Path, log: LogId, now: dt.datetime, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values with that of the folder for scratch files, from the root on, where the template takes it."""
    takes = any(each.name == FILES for each in template.parameters)
    return dict(values) | ({FILES: path_from(root, files_folder(root, log, now))} if takes and FILES not in values else {})


def files_folder(root: Path, log: LogId, now: dt.datetime) -> Path:
    """Return the folder for a run's scratch files."""
    return export_file(root, log, now).with_suffix("")


def export_file(root: Path, log: LogId, now: dt.datetime) -> Path:
    """Return the file that a run leaves: by its day, in local time, and its id as a UUID."""
    return root / RUNS / now.astimezone().date().isoformat() / f"{uuid_of(log)}{ENDING}"


def mark_of(
    template: Template,
    root: Path,
    log: LogId,
    now: dt.datetime,
    values: Mapping[str, Any],
    request: str,
    mode: LogbookMode,
) -> LogbookMark:
    """Return the mark of a run that is about to begin. `values` are those that the run is given."""
    check_request(request)
    bound = bound_values(template, values).declared
    front = {key: value for key, value in template.sheet.ours.items() if key not in OF_A_RUN}
    return LogbookMark(
        template=template.path,
        digest=template.digest,
        revision=find_template_revision(template.file),
        request=request,
        executed_at=now.astimezone().replace(microsecond=0).isoformat(),
        mode=mode,
        parameters={name: tag(value) for name, value in bound.items()},
        export=path_from(root, export_file(root, log, now)),
        language=template.sheet.language,
        front=front,
    )


def bound_values(template: Template, values: Mapping[str, Any]) -> BoundParameters:
    """Hold values to what a template takes; what is missing, or does not fit, is refused by name."""
    try:
        return bind(template.parameters, values)
    except BadInput as error:
        missing = [each for each in template.parameters if each.required and each.name not in values]
        asks = {each.name: {"type": each.type, "help": each.help} for each in missing}
        raise BadInput(f"{template.path}: {error}", **error.details, **({"asks": asks} if asks else {})) from None


def check_request(request: str) -> None:
    """Refuse words that no record can hold."""
    if len(request) > MOST_REQUEST:
        raise BadInput(
            f"The request has {len(request):,} characters, and {MOST_REQUEST:,} are the most. Put data into a file."
        )
    try:
        request.encode()
    except UnicodeEncodeError:
        raise BadInput("The request holds half a character (a lone surrogate), which no record can keep.") from None
    if "\0" in request:
        raise BadInput("The request holds a NUL character, which no file can keep.")


def find_template_revision(file: Path) -> str | None:
    """Return the last commit that changed a template, if the file is as in that commit; else None."""
    try:
        changed = attempt("status", "--porcelain", "--", file.name, at=file.parent, env=_ENV, seconds=_GIT_SECONDS)
        last = attempt("log", "-1", "--format=%H", "--", file.name, at=file.parent, env=_ENV, seconds=_GIT_SECONDS)
    except (Unavailable, OSError, TimeoutExpired):
        return None
    if changed.returncode or last.returncode or changed.stdout.strip():
        return None
    return last.stdout.decode("ascii", "replace").strip() or None
