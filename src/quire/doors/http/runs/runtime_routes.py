"""The runtimes of a notebook: how they are, what their cells ask, and stopping them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from litestar.params import FromPath
from msgspec.structs import replace

from ....actors.runtime.start.start_requests import RuntimeRequests
from ....core.errors import Refused
from ....core.events import Draft, Entry, RestartRequested
from ....core.ids import ExecutionId, LogId
from ....runs.provision import choose_kernel, kernels_for
from ....workspace.clock import new_id
from ....workspace.lanes.runtime_info import PromptAnswer, RuntimeFound, stop_execution, unheard
from ....workspace.wire import frames
from ....workspace.wire.bodies import InputGiven, KernelsFound, RestartWanted, RuntimeStart, WhyWaiting
from ..auth import Asked, door_of
from ..route import Asking, body_of, checked, route

EXECUTION = "/api/logs/{log}/executions/{execution}"


@route("GET", "/api/logs/{log}/runtimes", "runtimes", tag="runtimes", answer=list[RuntimeFound])
async def runtimes(log: FromPath[str], workspace: Asked) -> list[RuntimeFound]:
    """List the runtimes that are attached, in the order in which they came.

    `health` is what a runtime said last, within 30 seconds; `asks` is what its cells want to know.
    """
    return await workspace.runtimes(LogId(checked(log, "Log")))


@route("GET", "/api/logs/{log}/waiting", "why_waiting", tag="runtimes", answer=WhyWaiting)
async def why_waiting(log: FromPath[str], workspace: Asked) -> WhyWaiting:
    """Say why what waits in a log is not run: there are as many runtimes as there may be. Else `why` is null."""
    return WhyWaiting(why=await workspace.why_waiting(LogId(checked(log, "Log"))))


@route("POST", f"{EXECUTION}/input", "answer_input", tag="runtimes", body=InputGiven, answer=frames.SubmissionOutcome)
async def answer_input(
    request: Asking, log: FromPath[str], execution: FromPath[str], workspace: Asked
) -> frames.SubmissionOutcome:
    """Answer what a cell asks, under the bearer's name. Needs `run`.

    Of several answers to one question the first counts; the others are a conflict, as is an answer to nothing. What is
    secret is told to the runtime alone: the log says that it was answered, and by whom.
    """
    id, asked = LogId(checked(log, "Log")), ExecutionId(checked(execution, "Execution"))
    body = await body_of(request, InputGiven)
    given = PromptAnswer(answer=body.answer, prompt=body.prompt, password=body.password)
    return _submitted(await workspace.answer_input(id, asked, given))


@route("POST", f"{EXECUTION}/interrupt", "interrupt", tag="runtimes", answer=frames.SubmissionOutcome)
async def interrupt(log: FromPath[str], execution: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Interrupt an execution that runs; one that waits is taken back. Needs `run`."""
    id, wanted = LogId(checked(log, "Log")), ExecutionId(checked(execution, "Execution"))
    entry = await stop_execution(workspace, id, wanted)
    running = (await workspace.read(id)).execution(wanted)
    silent = await unheard(workspace, id, [running] if running is not None else [])
    return replace(_submitted(entry), unanswered=silent.get(wanted))


@route(
    "POST", "/api/logs/{log}/restart", "restart", tag="runtimes", body=RestartWanted, answer=frames.SubmissionOutcome
)
async def restart(request: Asking, log: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Ask for a new kernel. What runs is cancelled; `kernel_restarted` in the log tells when it is there. Needs `run`."""
    id = LogId(checked(log, "Log"))
    event = RestartRequested(runtime=(await body_of(request, RestartWanted)).runtime)
    return _submitted(*await workspace.submit(id, [Draft(id=new_id(), event=event)]))


@route("GET", "/api/logs/{log}/kernels", "kernels", tag="runtimes", answer=KernelsFound)
async def kernels(request: Asking, log: FromPath[str], workspace: Asked) -> KernelsFound:
    """List the kernels that a notebook could have on this machine, and the one that was chosen. Needs `run`."""
    id = LogId(checked(log, "Log"))
    await workspace.check(id, "run")
    return await asyncio.to_thread(kernels_for, await workspace.read(id), _home(request))


@route("POST", "/api/logs/{log}/runtimes/start", "start_runtime", tag="runtimes", body=RuntimeStart)
async def start_runtime(request: Asking, log: FromPath[str], workspace: Asked) -> None:
    """Start a runtime though nothing waits to be run; where one serves the notebook, it stays. Needs `run`.

    With `kernel`, that one is chosen for the notebook first, which takes `edit`. `runtime_attached` in the log tells when
    it is there; what keeps it from starting is told by the first cell that is to run.
    """
    id = LogId(checked(log, "Log"))
    kernel = (await body_of(request, RuntimeStart)).kernel
    await workspace.check(id, "run")
    requests = _requests(request)
    if kernel is not None:
        await choose_kernel(workspace, id, kernel, _home(request))
    await requests.start(id)


@route("POST", "/api/logs/{log}/runtimes/stop", "stop_runtime", tag="runtimes")
async def stop_runtime(request: Asking, log: FromPath[str], workspace: Asked) -> None:
    """End the runtime that this server started for a notebook, and its kernel. What runs is cancelled. Needs `run`."""
    id = LogId(checked(log, "Log"))
    await workspace.check(id, "run")
    await _requests(request).stop(id)


def _home(request: Asking) -> Path:
    home = door_of(request).home
    if home is None:
        raise Refused("No kernels are started here. Start a runtime where the kernels are: `quire runtime`.")
    return home


def _requests(request: Asking) -> RuntimeRequests:
    requests = door_of(request).runtimes
    if requests is None:
        raise Refused("No runtimes are started here. Start one where the kernels are: `quire runtime`.")
    return requests


def _submitted(*entries: Entry) -> frames.SubmissionOutcome:
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


ROUTES = [runtimes, why_waiting, answer_input, interrupt, restart, kernels, start_runtime, stop_runtime]
