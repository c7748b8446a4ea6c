"""A real server is sent whatever its own description allows, and what it does not: nothing is found.

Schemathesis makes the requests: each parameter and field at its limits and beyond, and generated bodies, good and bad. It
checks that what is answered is described, that what is not described is refused, and that nothing fails.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from quire.doors.http.server_settings import ServerSettings
from quire.workspace.local import LocalWorkspace

from ...http_server import served
from .http_clients import ADA, ALL

# What has the described shape may still make no sense, which is 422. It is never 400: that is for another shape.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422"]
"""
# With the id of a notebook that is there, requests get further than to say that there is none.
THERE = """
[parameters]
"path.log" = "n1"
"""
SEED = "20261116"
PLENTY = ServerSettings(requests_per_second=1e6, request_burst=10**6, failures_per_minute=10**6)


@pytest.mark.slow
@pytest.mark.generated
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("config", "phases", "examples"),
    [("", "coverage", 1), (THERE, "fuzzing", 4)],
    ids=["any log", "n1"],
)
async def test_schemathesis_finds_nothing(
    workspace: LocalWorkspace, tmp_path: Path, config: str, phases: str, examples: int
) -> None:
    if "QUIRE_TORTURE" in os.environ:
        examples *= 10
    token = await workspace.create_token(ADA, ALL)
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(CONFIG + config)
    async with served(workspace, PLENTY) as server:
        status, told = await _schemathesis(
            "--config-file",
            str(settings),
            "run",
            f"{server.url}/api/openapi.json",
            *("--header", f"Authorization: Bearer {token.secret}"),
            *("--checks", "all", "--mode", "all", "--phases", phases),
            *("--seed", SEED, "--max-examples", str(examples), "--generation-database", "none"),
            *("--suppress-health-check", "all", "--no-color", "--request-timeout", "60"),
            folder=tmp_path,
        )
        assert status == 0, told
        lines = server.told()
        assert len(lines) > 500, told
        assert {line["status"] for line in lines} >= {200, 400, 401, 403, 404, 422}
        assert not [line for line in lines if line["status"] >= 500]


async def _schemathesis(*arguments: str, folder: Path) -> tuple[int | None, str]:
    """Run it where it leaves nothing behind, and return how it ended and what it told."""
    command = Path(sys.executable).with_name("schemathesis")
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    running = await asyncio.create_subprocess_exec(
        command,
        *arguments,
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await running.communicate()
    return running.returncode, told.decode()
