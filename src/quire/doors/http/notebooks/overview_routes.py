"""What a home page shows: notebooks with their state, the last runs, what waits for the bearer, and a search over all."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ....core.ids import LogId
from ....verbs.overviews.overview import RUNS_SHOWN, Overview, RunSummary, WaitingItem
from ....verbs.overviews.overview import overview as make_overview
from ....verbs.overviews.overview import run_summaries as list_runs
from ....verbs.overviews.overview import waiting as list_waiting
from ....verbs.overviews.text_search import LONGEST_TEXT, SearchHit, search_text
from ....workspace.wire.bodies import Body
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, checked, query_of, route


class RunSummariesAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: the last ones, of one notebook if it is given."""

    notebook: LogId | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = RUNS_SHOWN


class SearchAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words, all of which have to stand in one place."""

    text: Annotated[str, Meta(max_length=LONGEST_TEXT)]


@route("GET", "/api/overview", "overview", tag="overview", answer=Overview)
async def overview(request: Asking, workspace: Asked) -> Overview:
    """All that a home page shows: the notebooks, the one changed last first, the last runs, what waits for the bearer."""
    return await while_there(request, make_overview(workspace))


@route("GET", "/api/overview/runs", "run_summaries", tag="overview", query=RunSummariesAsked, answer=list[RunSummary])
async def run_summaries(request: Asking, workspace: Asked) -> list[RunSummary]:
    """List the last runs with their parameters and results, the last one first."""
    asked = query_of(request, RunSummariesAsked)
    notebook = LogId(checked(asked.notebook, "Log")) if asked.notebook is not None else None
    return await while_there(request, list_runs(workspace, notebook, asked.limit))


@route("GET", "/api/waiting", "waiting", tag="overview", answer=list[WaitingItem])
async def waiting(request: Asking, workspace: Asked) -> list[WaitingItem]:
    """List what waits for the bearer over all notebooks, the oldest first.

    Proposals that the bearer may accept, questions of cells that they ran, and file conflicts where they may edit.
    """
    return await while_there(request, list_waiting(workspace))


@route("GET", "/api/search", "search", tag="overview", query=SearchAsked, answer=list[SearchHit])
async def search(request: Asking, workspace: Asked) -> list[SearchHit]:
    """Find all words of a text in names, in cells, and in what cells showed last: 100 places at most."""
    return await while_there(request, search_text(workspace, query_of(request, SearchAsked).text))


ROUTES = [overview, run_summaries, waiting, search]
