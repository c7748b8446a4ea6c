"""Who may start runs of a notebook."""

from __future__ import annotations

from litestar.params import FromPath

from ....core.ids import LogId
from ....workspace.identity.run_policy import RunPolicy
from ....workspace.wire.bodies import Body
from ..auth import Asked
from ..route import Asking, body_of, checked, route

PATH = "/api/notebooks/{log}/run-policy"


class RunPolicyWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is decided."""

    viewers_may_run: bool


@route("GET", PATH, "run_policy", tag="runs", answer=RunPolicy)
async def run_policy(log: FromPath[str], workspace: Asked) -> RunPolicy:
    """Whether everybody who may read a notebook may start runs of it with other parameters, and what the bearer may."""
    return await workspace.run_policy(LogId(checked(log, "Log")))


@route("POST", PATH, "set_run_policy", tag="runs", body=RunPolicyWanted, answer=RunPolicy)
async def set_run_policy(request: Asking, log: FromPath[str], workspace: Asked) -> RunPolicy:
    """Let everybody who may read a notebook start runs of it, or no longer. Needs to own the notebook, and `admin`."""
    id = LogId(checked(log, "Log"))
    wanted = await body_of(request, RunPolicyWanted)
    await workspace.let_viewers_run(id, allowed=wanted.viewers_may_run)
    return await workspace.run_policy(id)


ROUTES = [run_policy, set_run_policy]
