"""An agent and a person in one notebook: the agent reads, writes and has to ask before anything runs (rules 3, 9, 14).

Over the real /mcp of a real server with a real kernel, by the official client; the person answers through the API.
"""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from PIL import Image

from ..doors.mcp.agents import Agent, over_http, pictures_of, text_of
from .faulty_notebook import DEADLINE_SECONDS
from .live_runtimes import end_runtimes
from .owner import new_token
from .server import Folder, Server, events, run_cell, until

COLUMN = "net_chf"
TABLE = f"month,{COLUMN}\n1,120.5\n2,80.25\n3,210.0\n"
NOTEBOOK = """\
# %% [markdown]
# # Sales

# %% name="load"
import matplotlib.pyplot as plt
import pandas as pd

frame = pd.read_csv("sales.csv")
frame
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    path = tmp_path_factory.mktemp("story")
    (path / "sales.py").write_text(NOTEBOOK)
    (path / "sales.csv").write_text(TABLE)
    made = Folder(path)
    yield made
    made.close()
    end_runtimes(path)


@pytest.fixture(scope="module")
def log(folder: Folder) -> str:
    return folder.imported("sales.py")


@pytest.fixture(scope="module")
def server(folder: Folder, log: str) -> Server:
    return folder.start()


@pytest.fixture(scope="module")
def person(folder: Folder, server: Server, log: str) -> Iterator[httpx.Client]:
    """Somebody who works in the notebook, and may say yes."""
    with server.client(folder.token("read", "edit", "run", "approve")) as client:
        run_cell(client, log, "load")
        yield client


@pytest.fixture(scope="module")
def agent(folder: Folder, server: Server, person: httpx.Client) -> Iterator[Agent]:
    """An agent that may run, if somebody agrees each time."""
    with over_http(server.url, token_of_agent(folder)) as made:
        yield made


def token_of_agent(folder: Folder) -> str:
    return new_token(folder.path, "agent:claude", "read", "edit", "run", asks=("run",))


def cell_of(client: httpx.Client, log: str, name: str) -> Any:
    cells = client.get(f"/api/notebooks/{log}").json()["cells"]
    (found,) = [cell for cell in cells.values() if cell.get("name") == name]
    return found


def ran(client: httpx.Client, log: str) -> int:
    """How often anything began in a kernel."""
    return len(events(client, log, "execution_started"))


def answered(agent: Agent, proposal: str, log: str) -> tuple[str, str]:
    """How it ended, and what the agent is told of it: no answer makes it wait longer than 25 seconds."""

    def told() -> tuple[str, str] | None:
        result = agent.call("wait", notebook=log, proposal=proposal, seconds=20)
        assert not result.is_error and result.structured_content is not None
        state = result.structured_content["state"]
        return None if state in ("open", "proposed", "running", "queued") else (state, text_of(result))

    return until(told, "the agent is told of no answer")


def test_an_agent_reads_a_frame_plots_a_column_of_it_and_sees_the_plot_once_a_person_agreed(
    agent: Agent, person: httpx.Client, folder: Folder, log: str
) -> None:
    before = ran(person, log)
    # It reads what the frame showed: a name that is in no source.
    read = agent.told("read", notebook="sales", cells=["load"], budget=1000)
    columns = re.findall(r"\b[a-z]+_[a-z]+\b", read.partition("frame 3 × 2")[2])
    assert columns[0] == COLUMN and COLUMN not in NOTEBOOK
    # The edit is made at once, and its run waits.
    source = f'frame.plot(x="month", y="{columns[0]}", kind="bar")\nplt.title("{columns[0]}")'
    insert = {"op": "insert", "after": "load", "source": source, "name": "plot"}
    result = agent.call("edit", notebook="sales", edits=[insert], run="changed")
    assert not result.is_error and result.structured_content is not None
    facts = result.structured_content
    proposal = facts["proposal"]
    assert facts["state"] == "proposed" and proposal in text_of(result), "and says how to go on"
    assert cell_of(person, log, "plot")["source"] == source
    assert ran(person, log) == before, "nothing runs"
    # A person sees what is asked for: the code itself.
    waiting = person.get(f"/api/notebooks/{log}/proposals", params={"state": "open"}).json()
    assert [each["proposal"] for each in waiting] == [proposal]
    (effect,) = waiting[0]["effects"]
    assert effect["cell"] == cell_of(person, log, "plot")["id"]
    shown = folder.quire("proposals", "show", proposal)
    assert source.splitlines()[0] in shown.stdout and "agent:claude" in shown.stdout
    # The agent waits meanwhile, and the answer wakes it.
    waited = agent.begin("wait", notebook="sales", proposal=proposal, seconds=25)
    accepted = person.post(f"/api/notebooks/{log}/proposals/{proposal}/accept", json={})
    assert accepted.status_code == 200, accepted.text
    assert "accepted" in text_of(waited.result(DEADLINE_SECONDS))
    assert answered(agent, proposal, log)[0] == "done"
    # It looks at the plot.
    plotted = agent.told("read", notebook="sales", cells=["plot"])
    (handle,) = re.findall(r'image/png.*?output\(of="([^"]+)"\)', plotted)
    (picture,) = pictures_of(agent.call("output", notebook="sales", of=handle))
    with Image.open(io.BytesIO(b64decode(picture.data))) as image:
        image.load()
        assert image.format == "PNG" and image.width > 100 and len(set(image.convert("L").tobytes())) > 2
    assert ran(person, log) == before + 1
    assert [each["actor"] for each in events(person, log, "proposal_accepted")] == ["human:ada"]


def test_what_a_person_declines_does_not_run_and_the_agent_is_told_why(
    agent: Agent, person: httpx.Client, log: str
) -> None:
    before = ran(person, log)
    insert = {"op": "insert", "after": "end", "source": "print('never')", "name": "second"}
    facts = agent.facts("edit", notebook="sales", edits=[insert], run="changed")
    proposal = facts["proposal"]
    waited = agent.begin("wait", notebook="sales", proposal=proposal, seconds=25)
    why = "not before the figures of March are in"
    declined = person.post(f"/api/notebooks/{log}/proposals/{proposal}/decline", json={"why": why})
    assert declined.status_code == 200, declined.text
    told = text_of(waited.result(DEADLINE_SECONDS))
    assert "declined" in told and why in told
    assert answered(agent, proposal, log)[0] == "declined"
    assert ran(person, log) == before
    second = cell_of(person, log, "second")
    assert second.get("execution") is None and "never_run" in agent.told("read", notebook="sales", cells=["second"])


def test_code_without_a_cell_waits_in_the_same_way_and_its_code_is_shown(
    agent: Agent, person: httpx.Client, folder: Folder, log: str
) -> None:
    code = f'print(round(frame["{COLUMN}"].sum(), 2))'
    proposal = agent.facts("execute", notebook="sales", code=code)["proposal"]
    assert code in folder.quire("proposals", "show", proposal).stdout
    accepted = person.post(f"/api/notebooks/{log}/proposals/{proposal}/accept", json={})
    assert accepted.status_code == 200, accepted.text
    state, told = answered(agent, proposal, log)
    assert state == "done" and "410.75" in told
    assert [each["event"]["type"] for each in events(person, log, "cell_added")] == ["cell_added"] * 4, "no cell more"


def test_the_agent_cannot_say_yes_to_itself(agent: Agent, server: Server, folder: Folder, log: str) -> None:
    """Rule 3: not over the API either, with the same token."""
    proposal = agent.facts("execute", notebook="sales", code="1 + 1")["proposal"]
    with server.client(token_of_agent(folder)) as same:
        refused = same.post(f"/api/notebooks/{log}/proposals/{proposal}/accept", json={})
    assert refused.status_code == 403, refused.text
    assert agent.facts("control", notebook="sales", action="withdraw", id=proposal)
