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

from ...actors.runtime.start.start_requests import RuntimeRequests
from ...workspace.local import LocalWorkspace
from . import mcp_endpoint, web_pages
from .auth import admit, asking, make_door
from .error_responses import HANDLERS, JSON
from .identity import pause_routes, sharing_routes, sign_in_routes, token_routes
from .logs import blob_routes, health_routes, integrity_routes, log_routes
from .notebooks import (
    activity_routes,
    bundle_routes,
    comparison_routes,
    notebook_file_routes,
    notebook_routes,
    overview_routes,
    proposal_routes,
    undo_routes,
)
from .openapi import about, describe
from .reviews import review_routes
from .route import route
from .runs import lease_routes, run_policy_routes, run_routes, run_table_routes, runtime_routes
from .schedules import schedule_routes
from .server.access_log import AccessLog
from .server.middleware import HttpMiddleware
from .server_settings import ServerSettings
from .socket.socket_route import socket


@route("GET", "/api/openapi.json", "openapi", tag="server", answer=dict[str, Any])
async def openapi() -> Response[bytes]:
    """This description."""
    return Response(_described(), media_type=JSON)


@cache
def _described() -> bytes:
    return msgspec.json.encode(describe(about(ROUTES)))


ROUTES: list[HTTPRouteHandler] = [
    *health_routes.ROUTES,
    openapi,
    *overview_routes.ROUTES,
    *sign_in_routes.ROUTES,
    *token_routes.ROUTES,
    *sharing_routes.ROUTES,
    *pause_routes.ROUTES,
    *log_routes.ROUTES,
    *notebook_routes.ROUTES,
    *comparison_routes.ROUTES,
    *activity_routes.ROUTES,
    *run_routes.ROUTES,
    *run_table_routes.ROUTES,
    *run_policy_routes.ROUTES,
    *runtime_routes.ROUTES,
    *schedule_routes.ROUTES,
    *proposal_routes.ROUTES,
    *review_routes.ROUTES,
    *undo_routes.ROUTES,
    *notebook_file_routes.ROUTES,
    *blob_routes.ROUTES,
    *bundle_routes.ROUTES,
    *integrity_routes.ROUTES,
    *lease_routes.ROUTES,
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
        [*ROUTES, *web_pages.ROUTES, socket, mcp_endpoint.mcp],
        debug=False,  # whatever the environment says: tracebacks are for the log
        pdb_on_exception=False,
        dependencies={"workspace": Provide(asking, sync_to_thread=False)},
        exception_handlers={**HANDLERS, NotFoundException: web_pages.not_found},
        guards=[admit],
        logging_config=None,
        on_shutdown=[mcp_endpoint.close],
        openapi_config=None,
        request_max_body_size=chosen.body_bytes,
        state=State({"door": make_door(workspace, chosen, folder, home, runtimes)}),
    )
    app.asgi_handler = HttpMiddleware(app.asgi_handler, chosen, log or AccessLog())
    return app
