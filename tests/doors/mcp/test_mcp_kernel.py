"""Tools that wait, on a real kernel: progress, calls beside each other, giving up, and what stays when the agent goes."""

from __future__ import annotations

import threading
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from hashlib import sha256
from typing import Any

import pytest
from mcp_types import BlobResourceContents, TextResourceContents

from ...journeys.faulty_notebook import DEADLINE_SECONDS
from ...journeys.live_runtimes import holders
from ...journeys.server import Folder, until
from .agents import Agent, over_stdio, pictures_of, text_of

GATE = """\
from pathlib import Path
from time import sleep
print("begun", flush=True)
while not Path("gate").exists():
    sleep(0.01)
print("over")"""
PLOT = """\
import struct, zlib, random
from IPython.display import Image
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
rows = b"".join(b"\\0" + random.Random(row).randbytes(64 * 3) for row in range(64))
head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
Image(data=png)"""
CELLS = [
    {"op": "insert", "after": "top", "source": "x = 41", "name": "load"},
    {"op": "insert", "after": "load", "source": GATE, "name": "gate"},
    {"op": "insert", "after": "gate", "source": "x + 1", "name": "total"},
]


@pytest.fixture(scope="module")
def agent(folder: Folder) -> Iterator[Agent]:
    """An agent without any server: `quire mcp` starts what it needs."""
    with over_stdio(folder.path) as made:
        made.told("edit", notebook="gated", edits=CELLS)
        # Here, and not in the first test: each may be the first in its process.
        finished(made, made.begin("run", notebook="gated", cells=["load"], seconds=25))
        yield made


@pytest.fixture(autouse=True)
def closed(folder: Folder) -> Iterator[None]:
    """The gate is closed when a test begins, and nothing waits before it afterwards."""
    (folder.path / "gate").unlink(missing_ok=True)
    yield
    (folder.path / "gate").touch()


def test_progress_is_told_while_a_call_waits_and_others_are_answered_meanwhile(agent: Agent, folder: Folder):
    told: list[tuple[float, float | None, str | None]] = []
    at_gate = threading.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))
        if "2 of 3" in str(message):
            at_gate.set()

    running = agent.begin("run", progress, notebook="gated", cells="all", seconds=25)
    assert at_gate.wait(DEADLINE_SECONDS), told
    assert "gate" in agent.told("read", notebook="gated")
    assert not running.done()
    (folder.path / "gate").touch()
    assert "42" in finished(agent, running)
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told}), "always further than before"


def test_an_answer_comes_in_time_and_the_work_goes_on(agent: Agent, folder: Folder):
    begun = agent.facts("run", notebook="gated", cells=["gate"], seconds=0)
    assert begun["state"] in ("queued", "running")
    (folder.path / "gate").touch()
    assert waited(agent, begun["cursor"])["state"] == "done"


def test_giving_up_ends_the_waiting_and_not_the_work(agent: Agent, folder: Folder):
    running = agent.begin("run", notebook="gated", cells=["gate"], seconds=25)
    until(lambda: "running" in agent.told("read", notebook="gated"), "the cell does not begin")
    running.cancel()
    with pytest.raises(CancelledError):
        running.result(DEADLINE_SECONDS)
    assert "running" in agent.told("read", notebook="gated")
    (folder.path / "gate").touch()
    waited(agent)
    assert "over" in agent.told("read", notebook="gated", cells=["gate"])


def test_code_without_a_cell_sees_the_kernel_and_leaves_no_cell(agent: Agent):
    assert "41" in finished(agent, agent.begin("execute", notebook="gated", code="print(x)", seconds=25))
    assert " 3 cells " in agent.told("read", notebook="gated")


def test_an_image_is_looked_at_and_its_bytes_are_a_resource(agent: Agent, folder: Folder):
    edits = [{"op": "insert", "after": "end", "source": PLOT, "name": "plot"}]
    finished(agent, agent.begin("edit", notebook="gated", edits=edits, run="changed", seconds=25))
    looked_at = agent.call("output", notebook="gated", of="plot")
    (picture,) = pictures_of(looked_at)
    assert looked_at.structured_content is None, "or many clients would show the model that, and no image"
    assert picture.mime_type == "image/png"
    assert b64decode(picture.data).startswith(b"\x89PNG")
    (blob,) = [path.read_bytes() for path in (folder.path / ".quire" / "blobs").rglob("*") if path.is_file()]
    uri = f"quire://blobs/{sha256(blob).hexdigest()}"
    (content,) = agent.portal.call(agent.client.read_resource, uri).contents
    assert isinstance(content, BlobResourceContents)
    assert b64decode(content.blob) == blob


def test_a_run_in_a_kernel_of_its_own_is_a_resource(agent: Agent):
    agent.told("edit", notebook="small", edits=[{"op": "insert", "after": "end", "source": "print(6 * top)"}])
    begun = agent.facts("run", notebook="small", parameters={"top": 7}, seconds=25)
    until(lambda: "42" in agent.told("read", notebook=begun["run"], view="full"), "the run does not end")
    (listed,) = [each for each in agent.portal.call(agent.client.list_resources).resources if "/runs/" in each.uri]
    assert listed.uri == f"quire://runs/{begun['run']}"
    (content,) = agent.portal.call(agent.client.read_resource, listed.uri).contents
    assert isinstance(content, TextResourceContents)
    assert "42" in content.text


def test_a_notebook_and_its_file_stay_the_same_without_any_server(agent: Agent, folder: Folder):
    file = folder.path / "plan.py"
    agent.told("edit", notebook="plan.py", edits=[{"op": "insert", "after": "end", "source": "a = 1", "name": "first"}])
    assert "a = 1" in file.read_text()
    agent.told("edit", notebook="plan.py", edits=[{"op": "patch", "cell": "first", "old": "1", "new": "2"}])
    until(lambda: "a = 2" in file.read_text(), "the file stays behind")
    file.write_text(file.read_text().replace("a = 2", "a = 3"))
    until(lambda: "a = 3" in agent.told("read", notebook="plan.py", view="source"), "the notebook stays behind")


def test_an_agent_that_has_to_ask_gets_a_proposal_for_an_answer(folder: Folder, agent: Agent):
    with over_stdio(folder.path, "--as", "careful", "--ask", "run") as careful:
        asked = careful.facts("run", notebook="gated", cells=["load"])
        assert asked["state"] == "proposed"
        assert asked["proposal"] in careful.told("read", notebook="gated")
        assert careful.facts("control", notebook="gated", action="withdraw", id=asked["proposal"])


def test_when_the_agent_goes_the_runtime_stays(folder: Folder, agent: Agent):
    with over_stdio(folder.path, "--as", "other") as other:
        assert "41" in finished(other, other.begin("execute", notebook="gated", code="print(x)", seconds=25))
        before = holders(folder.path)
        assert before
    assert holders(folder.path) == before
    assert "41" in finished(agent, agent.begin("execute", notebook="gated", code="print(x)", seconds=25))


def finished(agent: Agent, begun: Future[Any]) -> str:
    """What came of it in the end: a machine may be slow, and an answer waits no longer than it was asked to."""
    result = begun.result(DEADLINE_SECONDS)
    assert not result.is_error, text_of(result)
    text = text_of(result)
    if result.structured_content["state"] in ("queued", "running"):
        text += str(waited(agent, result.structured_content["cursor"], text=True))
    return text


def waited(agent: Agent, since: int | None = None, *, text: bool = False) -> Any:
    """Wait until nothing runs any more."""
    ended = until(lambda: _ended(agent, since), "it does not end")
    return text_of(ended) if text else ended.structured_content


def _ended(agent: Agent, since: int | None) -> Any:
    result = agent.call("wait", notebook="gated", since=since, seconds=20)
    assert not result.is_error, text_of(result)
    return result if (result.structured_content or {})["state"] not in ("queued", "running") else None
