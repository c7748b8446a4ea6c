"""The application: all routes, behind one gate."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import Litestar, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler

from ...actors.runtime.start_requests import RuntimeRequests
from ...workspace.local import LocalWorkspace
from . import (
    access,
    activity,
    blobs,
    carrying,
    comparison,
    health,
    leases,
    logs,
    mcp,
    notebook_files,
    notebooks,
    overview,
    pauses,
    proposals,
    run_policy,
    run_table,
    runs,
    runtimes,
    signing_in,
    tokens,
    trust,
    undo,
    web_pages,
)
from .access_log import AccessLog
from .asking import admit, asking, make_door
from .description import about, describe
from .faults import HANDLERS, JSON
from .gate import Gate
from .route import route
from .settings import ServerSettings
from .socket import socket


@route("GET", "/api/openapi.json", "openapi", tag="server", answer=dict[str, Any])
async def openapi() -> Response[bytes]:
    """This description."""
    return Response(_described(), media_type=JSON)


@cache
def _described() -> bytes:
    return msgspec.json.encode(describe(about(ROUTES)))


ROUTES: list[HTTPRouteHandler] = [
    *health.ROUTES,
    openapi,
    *overview.ROUTES,
    *signing_in.ROUTES,
    *tokens.ROUTES,
    *access.ROUTES,
    *pauses.ROUTES,
    *logs.ROUTES,
    *notebooks.ROUTES,
    *comparison.ROUTES,
    *activity.ROUTES,
    *runs.ROUTES,
    *run_table.ROUTES,
    *run_policy.ROUTES,
    *runtimes.ROUTES,
    *proposals.ROUTES,
    *undo.ROUTES,
    *notebook_files.ROUTES,
    *blobs.ROUTES,
    *carrying.ROUTES,
    *trust.ROUTES,
    *leases.ROUTES,
]


def make_app(
    workspace: LocalWorkspace,
    settings: ServerSettings | None = None,
    log: AccessLog | None = None,
    folder: Path | None = None,
    home: Path | None = None,
    runtimes: RuntimeRequests | None = None,
) -> Litestar:
    """The door to a workspace, whose files are in `folder`. Whoever made the workspace closes it.

    `home` is where runs and runtimes work, if files are left alone; `runtimes` starts and stops them.
    """
    chosen = settings or ServerSettings()
    app = Litestar(
        [*ROUTES, *web_pages.ROUTES, socket, mcp.mcp],
        debug=False,  # whatever the environment says: tracebacks are for the log
        pdb_on_exception=False,
        dependencies={"workspace": Provide(asking, sync_to_thread=False)},
        exception_handlers={**HANDLERS, NotFoundException: web_pages.not_found},
        guards=[admit],
        logging_config=None,
        on_shutdown=[mcp.close],
        openapi_config=None,
        request_max_body_size=chosen.body_bytes,
        state=State({"door": make_door(workspace, chosen, folder, home, runtimes)}),
    )
    app.asgi_handler = Gate(app.asgi_handler, chosen, log or AccessLog())
    return app
