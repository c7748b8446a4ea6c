"""What a live notebook has around it: where it works, in which environment, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...actors.runtime.live_runtime import ServeOptions
from ...actors.runtime.queue import language_of
from ...actors.runtime.retry import patiently
from ...core.ids import LogId, actor_kind
from ...core.notebook.notebook import Notebook
from ...core.sheet.conversion import sheet_of
from ...kernel import startup_source
from ...kernels.kernel_environment import kernel_environment
from ...kernels.kernel_protocol import AdoptedKernel
from ...workspace.lanes.lane_messages import COMMS
from ...workspace.protocol import LaneAccess, Workspace
from ...workspace.tasks import alongside
from ..provision import find_chosen, provide


def serving_of(
    log: LogId,
    notebook: Notebook,
    folder: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
    *,
    language: str | None = None,
    **more: Any,
) -> ServeOptions:
    """What a run of the notebook in `folder` would have around it. `more` is how it is served."""
    sheet = sheet_of(notebook, {})
    given = kernel_environment(environ)
    spec = find_chosen(language or sheet.language, sheet.metadata, folder, given, tell)
    provided = provide(notebook.name, sheet, spec, folder, given, None)
    for warning in provided.warnings:
        tell(warning)
    return ServeOptions(
        log=log,
        spec=spec,
        cwd=folder,
        variables=provided.env,
        secrets=provided.secrets,
        startup=startup_source(frames=True) if spec.language == "python" else "",
        takes_any=language is None or spec.language.lower() == language_of(notebook).lower(),
        **more,
    )


def adopting(serving: ServeOptions, adopted: AdoptedKernel | None) -> ServeOptions:
    """The same with the kernel that is there already."""
    return msgspec.structs.replace(serving, spec=adopted.kernel.spec) if adopted is not None else serving


def folder_of(notebook: Notebook, workspace: Path) -> Path:
    """Where the notebook works: beside its file, if that is a place in the workspace."""
    beside = (workspace / notebook.binding.path).parent if notebook.binding is not None else workspace
    # The path is what somebody said who may edit: it is not to lead anywhere else.
    is_inside = beside.resolve().is_relative_to(workspace.resolve())
    return beside if is_inside and beside.is_dir() else workspace


async def until_quiet(runtime: Workspace, log: LogId, idle_seconds: float, lanes: LaneAccess) -> None:
    """Wait until nothing has happened for so long, and nothing runs or waits; who moves a slider does something too."""
    loop, seen = asyncio.get_running_loop(), _LastActivity()
    async with alongside(seen.follow(runtime, log)), alongside(seen.hear(lanes, log)):
        while seen.last + idle_seconds > loop.time():
            await asyncio.sleep(max(seen.last + idle_seconds - loop.time(), 0))
            if (await patiently(lambda: runtime.read(log))).executions:
                seen.last = loop.time()


class _LastActivity:
    """When something happened last."""

    def __init__(self) -> None:
        self.last = asyncio.get_running_loop().time()

    async def follow(self, runtime: Workspace, log: LogId) -> None:
        async for _ in runtime.follow(log):
            self.last = asyncio.get_running_loop().time()

    async def hear(self, lanes: LaneAccess, log: LogId) -> None:
        async for heard in lanes.hear(f"{log}/{COMMS}"):
            if heard.by is not None and actor_kind(heard.by) != "runtime":
                self.last = asyncio.get_running_loop().time()
