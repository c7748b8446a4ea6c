"""How a runtime on this machine is, seen from outside: for whoever owns the files and asks without a server."""

from __future__ import annotations

import json

from ...core.ids import ExecutionId
from ...core.notebook.notebook import Notebook
from ...kernels.process.connection_dir import all_folders
from ...kernels.resource_usage import Meter
from ...workspace.lanes.lane_messages import RuntimeHealth
from ...workspace.lanes.runtime_info import RuntimeFound
from ...workspace.log.process_id import began


def health_here(runtime: RuntimeFound, notebook: Notebook) -> RuntimeHealth | None:
    """What can be seen of its kernel; None when that is none of this user's kernels on this machine."""
    pid = _process(runtime.kernel or "")
    if pid is None:
        return None
    usage, execution = Meter(pid).look(), _running(runtime, notebook)
    return RuntimeHealth(
        runtime=runtime.id,
        name=runtime.name,
        language=runtime.language,
        state="dead" if usage is None else "idle" if execution is None else "busy",
        execution=execution,
        kernel=runtime.kernel,
        pid=pid,
        memory_bytes=usage.memory_bytes if usage is not None else None,
        environment=runtime.environment,
    )


def _process(kernel: str) -> int | None:
    # The id stands in a log, and anybody may have written it: it names a folder and no path.
    if not kernel.isalnum():
        return None
    try:
        about = json.loads((all_folders() / kernel / "about.json").read_bytes())
        pid = int(about["pid"])
        return pid if began(pid) == about["began"] else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _running(runtime: RuntimeFound, notebook: Notebook) -> ExecutionId | None:
    for id in notebook.executions:
        found = notebook.execution(id)
        if found is not None and found.state == "running" and found.runtime == runtime.id:
            return id
    return None
