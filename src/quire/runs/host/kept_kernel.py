"""The kernel that a run left alive (`quire run --keep`), for a runtime that serves the run's notebook with it.

What the run's cells defined is in that kernel and nowhere else. Where it is gone nothing is run
in another that would only look like it: whoever asks is told, and how to go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...actors.runtime.live_runtime import ServeOptions
from ...core.errors import Conflict, NotFound, Refused
from ...core.ids import LogId
from ...core.notebook.notebook import Notebook, Run
from ...core.sheet.conversion import sheet_of
from ...kernel import startup_source
from ...kernels.env_file import variables
from ...kernels.kernel_environment import kernel_environment
from ...kernels.kernel_protocol import AdoptedKernel, Kernel, adopt
from ...kernels.requirements import needs_of
from ...workspace.protocol import Workspace
from ..locations import is_remote, is_standard
from ..records.run_snapshot import as_left

WAIT_SECONDS = 0.1
ATTEMPTS = 50
"""So often to look whether a kernel that somebody uses is free."""


async def kept(
    runtime: Workspace,
    log: LogId,
    run: Run,
    folder: Path,
    environ: Mapping[str, str],
    adopted: AdoptedKernel | None,
    **more: Any,
) -> tuple[ServeOptions, AdoptedKernel]:
    """Take the kernel that a run left alive on this machine; return how its notebook is served with it, as the run was.

    NotFound, with what to do, when there is none. `adopted` is the kernel of a runtime that served it before and is
    gone; `more` is how it is served beside that.
    """
    found = adopted or AdoptedKernel(kernel=await _kernel(log, run), flight=None, actor=runtime.identity.actor)
    try:
        serving = await _serving(runtime, log, found.kernel, folder, environ, more)
        if serving.where:
            found.kernel.serves(serving.where, log, found.actor)
        return serving, found
    except BaseException:
        await found.kernel.leave()
        raise


async def _kernel(log: LogId, run: Run) -> Kernel:
    kernel = run.environment.get("kernel_id")
    for attempt in range(ATTEMPTS if isinstance(kernel, str) else 0):
        try:
            return await adopt(str(kernel), log, relayed=True)
        except NotFound:
            break
        except Conflict:
            # The run says that it is over a moment before its process lets go of the kernel.
            if attempt == ATTEMPTS - 1:
                raise
            await asyncio.sleep(WAIT_SECONDS)
    raise NotFound(_gone(log, run))


def _gone(log: LogId, run: Run) -> str:
    why = "ended since, or is on another machine" if run.environment.get("keep") else "was not kept when it ended"
    path = run.source.path
    source = f" {path}" if path is not None and not is_remote(path) and not is_standard(path) else ""
    told = f"The kernel of run {log} {why}, and with it what its cells had defined is gone."
    return f"{told} Run it again, and keep its kernel: `quire run{source} --resume {log} --keep`."


async def _serving(
    runtime: Workspace, log: LogId, kernel: Kernel, folder: Path, environ: Mapping[str, str], more: dict[str, Any]
) -> ServeOptions:
    now = await runtime.read(log)
    left = await as_left(runtime, log, now)
    env = _variables(kernel, folder, environ)
    return ServeOptions(
        log=log,
        spec=kernel.spec,
        cwd=_cwd(now, folder),
        variables=kernel_environment(env),
        secrets=_secrets(log, left, now, env),
        startup=startup_source() if kernel.spec.language == "python" else "",
        **more,
    )


def _cwd(notebook: Notebook, folder: Path) -> Path:
    cwd = notebook.run.environment.get("cwd") if notebook.run is not None else None
    return Path(cwd) if isinstance(cwd, str) and Path(cwd).is_dir() else folder


def _variables(kernel: Kernel, folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Those that the kernel was started with: some were in the terminal of whoever did, or typed, and nowhere else."""
    if kernel.pid is not None and sys.platform == "linux":
        with contextlib.suppress(OSError):  # it has ended just now
            told = Path(f"/proc/{kernel.pid}/environ").read_bytes().decode("utf-8", "surrogateescape")
            pairs = (pair.partition("=") for pair in told.split("\0") if "=" in pair)
            return {name: value for name, _, value in pairs}
    return variables(folder, environ).env


def _secrets(log: LogId, left: Notebook, now: Notebook, env: Mapping[str, str]) -> dict[str, str]:
    """What must not be kept (rule 16): what the run declared, also if somebody takes the declaration out of it."""
    had, has = (needs_of(sheet_of(each, {})).secrets for each in (left, now))
    if lacking := [name for name in had if name not in env]:
        told = f"Run {log} has secrets that this process does not know ({', '.join(lacking)})"
        raise Refused(f"{told}, so it could not keep them out of the record. Set them where the server is started.")
    return {name: env[name] for name in (*had, *has) if name in env}
