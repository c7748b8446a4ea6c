"""Settings that stand in files: `[serve]`, `[runtime]` and `[runs]` of quire.toml, the same under `[tool.quire]` of pyproject.toml.

Flags come first, then the environment (QUIRE_SERVE_…, QUIRE_MEMORY), then quire.toml, then pyproject.toml, both beside `.quire/`.
A name that nobody knows is refused, with the nearest that is known: a limit that was misspelt is no limit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec

from ...core.errors import BadInput
from ...core.ids import nearest
from ..http.server_settings import ServerSettings

PREFIX = "QUIRE_SERVE_"
MEMORY = "QUIRE_MEMORY"
VARIABLES = (
    "QUIRE_URL",
    "QUIRE_TOKEN",
    "QUIRE_BLOBS",
    "QUIRE_ALLOW_HTTP",
    "QUIRE_READER_URL",
    "QUIRE_COMPLETE",
    "QUIRE_FORGE",
    "QUIRE_FORGE_TOKEN",
    MEMORY,
)
"""All others that Quire looks at."""
WEBHOOKS = "QUIRE_WEBHOOK_"
"""How the names begin of variables in which schedules have the addresses of webhooks."""
TABLE, RUNTIME, RUNS, REPORTS = "serve", "runtime", "runs", "reports"
_TABLES = (TABLE, RUNTIME, RUNS, REPORTS)
_FILES = (("pyproject.toml", ("tool", "quire")), ("quire.toml", ()))
"""From the weakest on."""


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How `quire serve` starts. The door's own limits are ServerSettings."""

    host: str = "127.0.0.1"
    """Where to listen."""
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = None
    """On which port. Without it: 8765, or the next that is free."""
    public: bool = False
    """Whether others than this machine may come."""
    public_url: str | None = None
    """What people open, where a proxy stands in front."""
    mirror: bool = True
    """Whether to keep notebooks and their files the same."""
    runtime_idle_minutes: float = 30
    """How long a runtime that was started lives without anything to do."""
    most_runtimes: int = 32
    """How many runtimes live at once in the workspace, whoever started them."""


class RuntimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What kernels get, whoever starts them."""

    memory_bytes: int | None = None
    """How much one of them, with all that it started, may use."""


class RunsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long runs are kept. A server removes older ones, once a day."""

    keep: str | None = None
    """An age: 90d. Without it, for ever."""
    keep_last: Annotated[int, msgspec.Meta(ge=0)] = 0
    """So many of each notebook or file are kept, however old they are."""


class ReportsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where `quire report` publishes, and for how long."""

    commit: str | None = None
    """The branch; `here`: `runs/` on the current one."""
    to: str | None = None
    """An address in object storage instead."""
    index: Literal["markdown", "html"] | None = None
    """What kind of index."""
    keep_last: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """So many of each notebook stay. Without it, all."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All that a server is started with."""

    serve: ServeSettings
    door: ServerSettings
    runtime: RuntimeSettings
    runs: RunsSettings = RunsSettings()


NAMES = (*ServeSettings.__struct_fields__, *ServerSettings.__struct_fields__)


def read(folder: Path, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """What holds for a server of the workspace in `folder`. A flag of None was not given."""
    found: dict[str, Any] = {}
    for where, table in tables(folder, environ):
        if wrong := next(unknown(where, table), None):
            raise BadInput(wrong)
        found |= {name: _value(where, name, value) for name, value in table.items()}
    found |= {name: value for name, value in flags.items() if value is not None}
    mine = {name: value for name, value in found.items() if name in ServeSettings.__struct_fields__}
    doors = {name: value for name, value in found.items() if name in ServerSettings.__struct_fields__}
    runtime = read_runtime(folder, environ, flags.get("memory"))
    runs = read_runs(folder)
    return Settings(serve=ServeSettings(**mine), door=ServerSettings(**doors), runtime=runtime, runs=runs)


def read_runs(folder: Path) -> RunsSettings:
    """How long the runs of the workspace in `folder` are kept."""
    from ...workspace.clock import now
    from ...workspace.prune_runs import before_of

    found: dict[str, Any] = {}
    for name, path in _FILES:
        file = folder / name
        where, table = f"{file}, [{'.'.join((*path, RUNS))}]", _table(file, _ours(file, path).get(RUNS, {}))
        if wrong := next((each for each in table if each not in RunsSettings.__struct_fields__), None):
            raise BadInput(f"{where}: there is no setting {wrong!r}. There are: keep, keep_last.")
        try:
            msgspec.convert(table, RunsSettings)
            if "keep" in table:
                before_of(table["keep"], now())
        except (msgspec.ValidationError, BadInput) as error:
            raise BadInput(f"{where}: {error}") from None
        found |= table
    return msgspec.convert(found, RunsSettings)


def read_reports(folder: Path) -> dict[str, Any]:
    """Return what the files of the workspace in `folder` say of reports."""
    found: dict[str, Any] = {}
    for name, path in _FILES:
        file = folder / name
        where, table = f"{file}, [{'.'.join((*path, REPORTS))}]", _table(file, _ours(file, path).get(REPORTS, {}))
        try:
            msgspec.convert(table, ReportsSettings)
        except msgspec.ValidationError as error:
            known = ", ".join(ReportsSettings.__struct_fields__)
            raise BadInput(f"{where}: {error}. There are: {known}.") from None
        found |= table
    return found


def read_runtime(folder: Path, environ: Mapping[str, str], memory: str | None) -> RuntimeSettings:
    """What holds for kernels that are started in `folder`; `memory` is what a flag says."""
    from ...kernels.memory_limit import read_size

    for where, said in (("--memory", memory), (MEMORY, environ.get(MEMORY)), *_memory_in_files(folder)):
        if said not in (None, ""):
            try:
                return RuntimeSettings(memory_bytes=read_size(said))
            except BadInput as error:
                raise BadInput(f"{where}: {error}") from None
    return RuntimeSettings()


def _memory_in_files(folder: Path) -> list[tuple[str, Any]]:
    """What each file says, from the strongest on."""
    found: list[tuple[str, Any]] = []
    for name, path in reversed(_FILES):
        file = folder / name
        where, table = f"{file}, [{'.'.join((*path, RUNTIME))}]", _table(file, _ours(file, path).get(RUNTIME, {}))
        if wrong := next((each for each in table if each != "memory"), None):
            raise BadInput(f"{where}: there is no setting {wrong!r}. There is: memory.")
        found.append((where, table.get("memory")))
    return found


def tables(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each place that says something, from the weakest on, with what it says."""
    for name, path in _FILES:
        file = folder / name
        ours = _ours(file, path)
        if wrong := next(_unknown_tables(file, ours), None):
            raise BadInput(wrong)
        yield f"{file}, [{'.'.join((*path, TABLE))}]", _table(file, ours.get(TABLE, {}))
    given = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    yield "The environment", {name.removeprefix(PREFIX).lower(): value for name, value in given.items()}


def unknown(where: str, table: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the names in a table."""
    for name in table:
        if name not in NAMES:
            close = nearest(name, NAMES)
            hint = f"Did you mean {', '.join(close)}?" if close else "docs/reference/settings.md lists them."
            yield f"{where}: there is no setting {name!r}. {hint}"


def unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Variables that look like ours and say nothing to anybody."""
    known = (*VARIABLES, *(f"{PREFIX}{name.upper()}" for name in NAMES))
    for name in environ:
        if name.startswith("QUIRE_") and not name.startswith(WEBHOOKS) and name not in known:
            close = nearest(name, known)
            hint = f"Did you mean {', '.join(close)}?" if close else "docs/reference/settings.md lists them."
            yield f"{name} is set, and is no setting. {hint}"


def _ours(file: Path, path: tuple[str, ...]) -> dict[str, Any]:
    try:
        found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}. Mend it, or take it away.") from None
    for name in path:
        found = _table(file, found.get(name, {}))
    return found


def _unknown_tables(file: Path, ours: Mapping[str, Any]) -> Iterator[str]:
    for name in ours:
        if name not in _TABLES:
            close = nearest(name, _TABLES)
            hint = (
                f"Did you mean [{close[0]}]?"
                if close
                else f"Only {', '.join(f'[{each}]' for each in _TABLES)} are looked at."
            )
            yield f"{file}: there is no setting {name!r} for Quire. {hint}"


def _table(file: Path, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{file}: what is set for Quire has to be a table: write [serve].")
    return cast("dict[str, Any]", value)


def _value(where: str, name: str, value: Any) -> Any:
    kind = ServeSettings if name in ServeSettings.__struct_fields__ else ServerSettings
    wanted: Any = next(field.type for field in msgspec.structs.fields(kind) if field.name == name)
    if wanted == tuple[str, ...] and isinstance(value, str):
        value = [each.strip() for each in value.split(",") if each.strip()]
    try:
        made: Any = msgspec.convert(value, wanted, strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {name} = {value!r} does not fit: {error}.") from None
    if isinstance(made, int | float) and not isinstance(made, bool) and not made > 0:
        raise BadInput(f"{where}: {name} = {value!r} does not fit: it has to be more than 0.")
    return made
