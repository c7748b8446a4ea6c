"""Run the benchmarks: all of them, or those whose names are given."""

from __future__ import annotations

import asyncio
import json
import sys

from .agents import agents_figures
from .appends import postgres_figures, sqlite_figures
from .check import check_figures
from .collaboration import collaboration_figures
from .compare import compare_figures
from .fanout import fanout_figures
from .figures import Figure, show, show_heading
from .git import git_figures
from .idle import idle_figures
from .replay import growth_figures, replay_figures
from .results import result_figures
from .run_table import run_table_figures
from .runs import images_figures, runs_figures
from .runtimes import runtime_figures
from .shell import shell_figures
from .web import web_figures, web_key_figures

PARTS = {
    "appends": sqlite_figures,
    "postgres": postgres_figures,
    "replay": replay_figures,
    "growth": growth_figures,
    "compare": compare_figures,
    "git": git_figures,
    "shell": shell_figures,
    "results": result_figures,
    "runs": runs_figures,
    "images": images_figures,
    "check": check_figures,
    "fanout": fanout_figures,
    "collaboration": collaboration_figures,
    "runtimes": runtime_figures,
    "idle": idle_figures,
    "agents": agents_figures,
    "web": web_figures,
    "web_keys": web_key_figures,
    "run_table": run_table_figures,
}


async def main(wanted: list[str]) -> int:
    """Measure, print, and fail when a target is missed."""
    as_json = "--json" in wanted
    names = [name for name in wanted if not name.startswith("-")] or list(PARTS)
    figures: list[Figure] = []
    if not as_json:
        show_heading()
    for name in names:
        for figure in await PARTS[name]():
            figures.append(figure)
            if not as_json:
                show(figure)
    if as_json:
        import msgspec

        sys.stdout.write(json.dumps(msgspec.to_builtins(figures)) + "\n")
    return int(any(figure.good is False for figure in figures))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
