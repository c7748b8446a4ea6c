"""A runtime on its lanes: it asks, answers, tells how it is, and begins anew when somebody wants that."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from quire.actors.runtime.lane_service import AnswerTimeouts
from quire.actors.runtime.live_runtime import ServeOptions, serve
from quire.core import events as e
from quire.core.errors import Conflict, NotFound, Refused
from quire.core.events import KnownEvent, Scope
from quire.core.ids import ActorId, CellId, ExecutionId
from quire.core.notebook.notebook import Execution
from quire.core.values import Json
from quire.kernels.environments import find
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.lanes.lanes import LaneEntry
from quire.workspace.lanes.runtime_info import PromptAnswer
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.process_id import began

from .test_live_runtime import LOG, PATIENCE, Live, printed

ADA, BOB = ActorId("human:ada"), ActorId("human:bob")


class Talked(Live):
    """A notebook that a runtime serves, and people on its lanes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def start(self, name: str = "local", **more: Any) -> None:
        variables = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
        spec = find("python", None, cwd=self.folder, environ={})
        spools = self.folder / "spool"
        serving = ServeOptions(
            log=LOG, spec=spec, cwd=self.folder, variables=variables, name=name, spools=spools, **more
        )
        runtime = self.owner.acting_as(identities.runtime(name))
        self._runtimes.append(asyncio.ensure_future(serve(runtime, serving, self._over)))

    async def person(self, actor: ActorId, *scopes: Scope) -> LocalWorkspace:
        made = await self.owner.create_token(actor, scopes)
        return await self.owner.bearer(made.secret)

    async def execution(self, cell: int, *states: str) -> Execution:
        """The open execution of a cell, once it is in one of these states."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self.owner.follow(LOG):
                found = (await self.owner.read(LOG)).cells[CellId(f"c{cell}")]
                for each in (found.execution, found.queued):
                    if each is not None and each.state in states:
                        return each
        raise AssertionError


class Ear:
    """Somebody who listens to a lane from now on."""

    def __init__(self, workspace: LocalWorkspace, lane: str) -> None:
        self.lane = lane
        self.heard: list[LaneEntry] = []
        self._news = asyncio.Event()
        self._task = asyncio.ensure_future(self._listen(workspace, lane))

    async def _listen(self, workspace: LocalWorkspace, lane: str) -> None:
        async for heard in workspace.lanes.hear(f"{LOG}/{lane}"):
            self.heard.append(heard)
            self._news.set()

    async def until(self, but: str = "", **fields: Any) -> dict[str, Any]:
        """The first message that says this and is not of the kind `but`, whenever it came."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for heard in self.heard:
                    message = cast("dict[str, Any]", heard.message)
                    if fields.items() <= message.items() and message["kind"] != but:
                        return message
                self._news.clear()
                await self._news.wait()

    async def failed(self, count: int) -> None:
        """Wait until a runtime has said so often that something was not done."""
        async with asyncio.timeout(PATIENCE):
            while sum(_failed(each) for each in self.heard) < count:
                self._news.clear()
                await self._news.wait()


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Talked]:
    made = Talked(tmp_path)
    yield made
    await made.close()


async def answers(live: Talked) -> list[tuple[ActorId, str | None]]:
    entries = await live.owner.entries(LOG, types=["input_answered"])
    return [(each.actor, cast("e.InputAnswered", each.event).answer) for each in entries]


# ---- stdin


async def test_a_question_is_answered_by_whoever_may_run_and_under_their_name(live: Talked) -> None:
    """Rule 3."""
    await live.write("name = input('who? ')\nprint('hello', name)")
    ada, bob = await live.person(ADA, "read", "run"), await live.person(BOB, "read")
    ear = Ear(bob, "stdin")
    live.start()
    await live.request(0)
    asked = await ear.until(kind="asked", prompt="who? ")
    execution = ExecutionId(asked["execution"])
    with pytest.raises(Refused):
        await bob.answer_input(LOG, execution, PromptAnswer(answer="mallory"))
    with pytest.raises(Conflict, match="something else"):
        await ada.answer_input(LOG, execution, PromptAnswer(answer="ada", prompt="which? "))
    assert [each.asks[0].prompt for each in await bob.runtimes(LOG)] == ["who? "]
    entry = await ada.answer_input(LOG, execution, PromptAnswer(answer="ada", prompt="who? "))
    assert entry.actor == ADA
    assert printed(await live.until("ok"), 0) == "hello ada\n"
    assert await answers(live) == [(ADA, "ada")]
    await ear.until(kind="answered", execution=execution)


async def test_of_two_answers_to_one_question_the_first_counts(live: Talked) -> None:
    await live.write("print([input('a'), input('a'), input('b')])")
    ada, bob = await live.person(ADA, "read", "run"), await live.person(BOB, "read", "run")
    ear = Ear(ada, "stdin")
    live.start()
    await live.request(0)
    execution = ExecutionId((await ear.until(kind="asked"))["execution"])
    tried = await asyncio.gather(
        *(each.answer_input(LOG, execution, PromptAnswer(answer=name)) for each, name in ((ada, "x"), (bob, "y"))),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Conflict | Refused) for each in tried) == [False, True], tried
    await ear.until(kind="asked", question=2)
    await ada.answer_input(LOG, execution, PromptAnswer(answer="second"))
    await ear.until(kind="asked", question=3, prompt="b")
    # Whoever records it by themselves is heard too.
    await bob.submit(LOG, [_draft(e.InputAnswered(execution=execution, prompt="b", answer="third"))])
    told = printed(await live.until("ok"), 0)
    assert told in ("['x', 'second', 'third']\n", "['y', 'second', 'third']\n")
    assert len(await answers(live)) == 3


async def test_a_password_is_told_to_the_runtime_alone(live: Talked) -> None:
    """Rule 16."""
    await live.write("import getpass\nkey = getpass.getpass('key: ')\nprint(len(key))")
    ada, bob = await live.person(ADA, "read", "run"), await live.person(BOB, "read", "run")
    ears = [Ear(bob, "stdin"), Ear(live.owner, "stdin")]
    live.start()
    await live.request(0)
    execution = ExecutionId((await ears[0].until(kind="asked", password=True))["execution"])
    # Of somebody whose name does not stand in the log nothing is taken.
    bob.lanes.say(f"{LOG}/stdin", {"kind": "answer", "execution": execution, "question": 1, "answer": "0"})
    await ada.answer_input(LOG, execution, PromptAnswer(answer="correct horse"))
    assert printed(await live.until("ok"), 0) == "13\n"
    assert await answers(live) == [(ADA, None)]
    for ear in ears:
        await ear.until(kind="answered")
        assert "correct horse" not in str(ear.heard)


async def test_a_password_that_was_only_announced_is_asked_for_again(live: Talked) -> None:
    await live.write("import getpass\nprint(getpass.getpass('key: '))")
    ada = await live.person(ADA, "read", "run")
    ear = Ear(ada, "stdin")
    live.start(patience=AnswerTimeouts(secret_seconds=0.2))
    await live.request(0)
    execution = ExecutionId((await ear.until(kind="asked"))["execution"])
    await live.say(e.InputAnswered(execution=execution, prompt="key: ", answer=None))
    await ear.until(kind="asked", question=2)
    await ada.answer_input(LOG, execution, PromptAnswer(answer="open"))
    assert printed(await live.until("ok"), 0) == "open\n"


async def test_nothing_is_answered_that_nobody_asked(live: Talked) -> None:
    await live.write("import time\nwhile True: time.sleep(0.05)", "1")
    live.start()
    ada = await live.person(ADA, "read", "run")
    await live.request(0)
    running = await live.execution(0, "running")
    with pytest.raises(Conflict, match="asks for no input"):
        await ada.answer_input(LOG, running.id, PromptAnswer(answer="x"))
    await live.say(e.InterruptRequested(execution=running.id))
    await live.until("cancelled", "never_run")
    with pytest.raises(NotFound):
        await ada.answer_input(LOG, running.id, PromptAnswer(answer="x"))


# ---- Completion and inspection


async def answered(who: LocalWorkspace, ear: Ear, ask: dict[str, Json]) -> dict[str, Any]:
    """Ask until it is answered: on a slow machine an idle kernel may be taken for a busy one."""
    while True:
        id = new_id()
        who.lanes.say(f"{LOG}/{ear.lane}", {**ask, "id": id})
        found = await ear.until(but="ask", id=id)
        if found["kind"] != "busy":
            return found


async def test_completion_and_inspection_are_answered_while_idle_and_busy_is_told(live: Talked) -> None:
    fast = "get_ipython().Completer.use_jedi = False"
    await live.write(f"import collections\nimport time\n{fast}", "while True: time.sleep(0.05)")
    ada = await live.person(ADA, "read", "run")
    completion, inspection = Ear(ada, "completion"), Ear(ada, "inspection")
    live.start()
    await live.request(0)
    await live.until("ok", "never_run")
    code = "collections.Ordered"
    ask: dict[str, Json] = {"kind": "ask", "code": code, "position": len(code)}
    found = await answered(ada, completion, ask)
    assert any("OrderedDict" in each for each in found["content"]["matches"])
    told = await answered(ada, inspection, {**ask, "code": "collections.OrderedDict", "runtime": "python"})
    assert "OrderedDict" in told["content"]["data"]["text/plain"]
    await live.request(1)
    running = await live.execution(1, "running")
    for number in range(20):
        ada.lanes.say(f"{LOG}/completion", {**ask, "id": f"b{number}"})
    for number in range(20):
        await completion.until(kind="busy", id=f"b{number}")
    ada.lanes.say(f"{LOG}/completion", {**ask, "id": "other", "runtime": "gpu"})
    await live.say(e.InterruptRequested(execution=running.id))
    await live.until("ok", "cancelled")
    await answered(ada, completion, ask)
    assert not any(
        cast("dict[str, Any]", each.message).get("id") == "other" for each in completion.heard if each.by != ADA
    )


async def test_an_answer_that_is_too_large_is_cut(live: Talked) -> None:
    fast = "get_ipython().Completer.use_jedi = False"
    await live.write(f"{fast}\nfor n in range(400): globals()[f'long_{{n:05}}' + 'x' * 500] = n")
    ada = await live.person(ADA, "read", "run")
    ear = Ear(ada, "completion")
    live.start()
    await live.request(0)
    await live.until("ok")
    code = "long_"
    found = await answered(ada, ear, {"kind": "ask", "code": code, "position": len(code)})
    assert found["cut"] is True and 10 < len(found["content"]["matches"]) < 400
    assert found["content"]["cursor_end"] == len(code)


# ---- Comms

ECHO = """
from ipykernel.comm import Comm
def opened(comm, message):
    @comm.on_msg
    def said(message):
        comm.send({'echo': message['content']['data'], 'size': sum(len(bytes(each)) for each in message['buffers'])},
                  buffers=[b'back'])
get_ipython().kernel.comm_manager.register_target('echo', opened)
"""


async def test_a_comm_leads_both_ways_whether_a_cell_runs_or_not(live: Talked) -> None:
    await live.write(ECHO, "mine = Comm('of kernel', data={'x': 1})\nmine.send({'big': 'x' * 100_000})\nmine.close()")
    ada = await live.person(ADA, "read", "run")
    ear = Ear(ada, "comms")
    live.start()
    await live.request(0)
    await live.until("ok", "never_run")
    ada.lanes.say(f"{LOG}/comms", {"kind": "open", "comm": "w1", "target": "echo"})
    sent = base64.b64encode(b"12345").decode()
    ada.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "w1", "data": {"n": 7}, "buffers": [sent]})
    back = await ear.until(kind="message", data={"echo": {"n": 7}, "size": 5})
    assert base64.b64decode(back["buffers"][0]) == b"back"
    await live.request(1)
    opened = await ear.until(kind="open", target="of kernel")
    assert opened["data"] == {"x": 1}
    too_large = await ear.until(kind="too_large", comm=opened["comm"])
    assert too_large["size"] > 100_000
    await ear.until(kind="close", comm=opened["comm"])


async def test_somebody_moves_a_slider_and_the_kernel_knows(live: Talked) -> None:
    await live.write("import ipywidgets\nslider = ipywidgets.IntSlider(value=3)\nslider", "print(slider.value)")
    ada, bob = await live.person(ADA, "read", "run"), await live.person(BOB, "read")
    ear = Ear(bob, "comms")
    live.start()
    await live.request(0)
    notebook = await live.until("ok", "never_run")
    shown = notebook.cells[CellId("c0")].execution
    assert shown is not None
    display = cast("e.Display", shown.outputs[0])
    model = cast("dict[str, Any]", display.data["application/vnd.jupyter.widget-view+json"])["model_id"]
    opened = await ear.until(kind="open", comm=model)
    assert (opened["target"], opened["data"]["state"]["value"]) == ("jupyter.widget", 3)
    moved: dict[str, Json] = {"method": "update", "state": {"value": 8}, "buffer_paths": []}
    ada.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": model, "data": moved})
    echo = await ear.until(kind="message", comm=model, data={**moved, "method": "echo_update"})
    assert echo["data"]["state"] == {"value": 8}
    await live.request(1)
    assert printed(await live.until("ok", "ok"), 1) == "8\n"


async def test_widgets_that_say_much_while_nothing_runs_hold_nothing_up(live: Talked) -> None:
    await live.write(ECHO, "print('on')")
    ada = await live.person(ADA, "read", "run")
    ear = Ear(ada, "comms")
    live.start()
    await live.request(0)
    await live.until("ok", "never_run")
    ada.lanes.say(f"{LOG}/comms", {"kind": "open", "comm": "w1", "target": "echo"})
    for number in range(300):  # more than a client keeps
        sent: dict[str, Json] = {"n": number, "text": "x" * 30_000}
        ada.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "w1", "data": sent})
        await ear.until(kind="message", data={"echo": sent, "size": 0})
        ear.heard.clear()
    await live.request(1)
    assert printed(await live.until("ok", "ok"), 1) == "on\n"


# ---- What makes no sense


async def test_hostile_words_do_nothing_and_are_told(live: Talked) -> None:
    await live.write("x = input('who? ')\nprint(x)")
    ada = await live.person(ADA, "read", "run")
    ears = {lane: Ear(ada, lane) for lane in ("stdin", "completion", "inspection", "comms")}
    live.start()
    await live.request(0)
    execution = (await ears["stdin"].until(kind="asked"))["execution"]
    deep: Json = {}
    for _ in range(90):
        deep = {"d": deep}
    hostile: list[Json] = [None, 7, "x", [], {}, deep, {"kind": "nothing"}, {"kind": ["ask"]}, {"kind": "x" * 50_000}]
    hostile += [
        {"kind": "ask", "id": "n", "code": "x", "position": -1},
        {"kind": "ask", "id": "n", "code": "x", "position": 9},
        {"kind": "ask", "id": "n", "code": "x" * 61_000, "position": 0},
        {"kind": "ask", "id": 5, "code": deep, "position": 0},
        {"kind": "message", "comm": "", "data": {}},
        {"kind": "message", "comm": "c", "data": {}, "buffers": ["%%%"]},
        {"kind": "answer", "execution": "elsewhere", "question": 1, "answer": "x"},
        {"kind": "answer", "execution": execution, "question": 99, "answer": "x"},
        {"kind": "answer", "execution": execution, "question": 1, "answer": ["x"]},
    ]
    for lane, ear in ears.items():
        for number, message in enumerate(hostile):
            ada.lanes.say(f"{LOG}/{lane}", message)
            await ear.failed(number + 1)
    await ada.answer_input(LOG, ExecutionId(execution), PromptAnswer(answer="still here"))
    assert printed(await live.until("ok"), 0) == "still here\n"
    assert await answers(live) == [(ADA, "still here")]


def _failed(heard: LaneEntry) -> bool:
    return str(heard.message).startswith("{'kind': 'failed'")


# ---- Health, restarts, memory


async def test_how_a_runtime_is_can_be_seen_by_whoever_may_read(live: Talked) -> None:
    await live.write("import time\nkept = bytearray(50_000_000)\nwhile True: time.sleep(0.01)")
    bob = await live.person(BOB, "read")
    ear = Ear(bob, "health")
    live.start(memory_bytes=4_000_000_000)
    await ear.until(kind="health", state="idle")
    await live.request(0)
    running = await live.execution(0, "running")
    told = await ear.until(state="busy", execution=running.id)
    assert (told["runtime"], told["name"], told["language"]) == ("runtime:local", "local", "python")
    assert told["memory_limit_bytes"] == 4_000_000_000
    assert told["memory_bytes"] > 10_000_000 and began(told["pid"])
    (found,) = await bob.runtimes(LOG)
    assert found.health is not None and found.health.state == "busy" and found.kernel == found.health.kernel
    # Nobody speaks for a runtime but itself.
    ada = await live.person(ADA, "read", "run")
    ada.lanes.say(f"{LOG}/health", {**told, "state": "dead"})
    (found,) = await bob.runtimes(LOG)
    assert found.health is not None and found.health.state == "busy"
    await live.say(e.InterruptRequested(execution=running.id))
    await live.until("cancelled")


async def test_a_restart_cancels_what_runs_and_the_next_cell_has_a_new_kernel(live: Talked) -> None:
    stubborn = (
        "import time\nwhile True:\n    try: time.sleep(60)\n    except KeyboardInterrupt: print('no', flush=True)"
    )
    await live.write("x = 1", stubborn, "print('x' in dir())")
    live.start(grace_seconds=0.2)
    await live.request(0, 1, 2)
    await live.execution(1, "running")
    ada = await live.person(ADA, "read", "run")
    await ada.submit(LOG, [_draft(e.RestartRequested(runtime="local"))])
    notebook = await live.until("ok", "cancelled", "ok")
    assert printed(notebook, 2) == "False\n"
    (runtime,) = notebook.runtimes.values()
    assert runtime.restarts == 1
    (entry,) = await live.owner.entries(LOG, types=["kernel_restarted"])
    assert cast("e.KernelRestarted", entry.event).why == f"asked by {ADA}"
    # Also while nothing runs; of another runtime it is not for this one.
    await live.say(e.RestartRequested())
    await live.request(2)
    async with asyncio.timeout(PATIENCE):
        async for _ in live.owner.follow(LOG):
            notebook = await live.owner.read(LOG)
            if notebook.runtimes[runtime.id].restarts == 2 and not notebook.executions:
                break
    assert printed(notebook, 2) == "False\n"


async def test_who_uses_too_much_memory_is_ended_and_told_the_limit(live: Talked) -> None:
    eats = "import time\nkept = []\nfor _ in range(400):\n    kept.append(bytearray(b'x' * 5_000_000))\n    time.sleep(0.02)"
    await live.write(eats, "print('kept' in dir())")
    live.start(memory_bytes=300_000_000)
    await live.request(0, 1)
    notebook = await live.until("dead_kernel", "ok")
    ended = notebook.cells[CellId("c0")].execution
    assert ended is not None and ended.fault is not None
    assert "300 MB are allowed" in ended.fault.evalue, ended.fault
    assert printed(notebook, 1) == "False\n"


def _draft(event: KnownEvent) -> e.Draft:
    return e.Draft(id=new_id(), event=event)
