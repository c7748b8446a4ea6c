"""An editor, git and the API change one notebook, in any order: nothing is lost, and there is no ping-pong (rule 13)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.ids import ActorId, CellId
from quire.core.text import Splice
from quire.workspace.clock import new_id

from ...fork_server import Talking
from .mirror_desk import FORMATS, PATIENCE, WAYS, Desk, until
from .test_mirror_crash import start

ROOT = Path(__file__).parents[3]
STEPS = (
    "api",
    "api adds",
    "api removes",
    "agent",
    "editor",
    "editor adds",
    "editor removes",
    "lab",
    "touch",
    "commit",
    "switch",
    "stash",
    "rebase",
    "rename",
    "remove and back",
    "restart",
    "wait",
    "again",
)
DRAWN = (Phase.explicit, Phase.generate)
"""What failed once takes half a minute to fail again: it is not made smaller."""
Step: TypeAlias = tuple[str, int]

steps: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 7)), min_size=2, max_size=8
)


class Agent:
    """Another process, which edits with a token of its own."""

    def __init__(self) -> None:
        self._process = Talking("tests.actors.mirror.run_agent", cwd=ROOT)

    def edit(self, desk: Desk, secret: str, number: int, word: str) -> None:
        """Let it edit, and wait until it has."""
        self._process.tell(f"{desk.folder} {desk.log} {secret} {number} {word}")
        assert self._process.line() == "done\n"

    def close(self) -> None:
        self._process.kill()


@pytest.fixture
def agent() -> Iterator[Agent]:
    agent = Agent()
    yield agent
    agent.close()


class Play:
    """One interleaving. Every text that is written is unlike any other, so that it can be looked for."""

    def __init__(self, desk: Desk, agent: Agent | None = None) -> None:
        self.desk = desk
        self._agent = agent
        self.saved: set[str] = set()
        """What was in a version of the file that a mirror must have seen, or that git has."""
        self._count = 0
        self._branch = "main"
        self._secret: str | None = None

    def text(self) -> str:
        self._count += 1
        return f"word_{self._count:03} = {self._count}"

    async def begin(self) -> None:
        await self.desk.write("a = 1\nb = 2", "c = 3", "d = 4\ne = 5")
        await self.desk.start()
        await self.quiet()
        (self.desk.folder / ".gitignore").write_text(".*\n*~\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "begin")
        self.git("branch", "other")

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        subprocess.run(["git", *who, *words], cwd=self.desk.folder, check=True, capture_output=True)

    async def quiet(self) -> None:
        """Both sides say the same, and the log knows the file: nothing is left to do."""

        async def same() -> object:
            self.desk.check_mirrors()
            try:
                text = self.desk.file.read_text()
            except FileNotFoundError:
                return False  # an editor has put it aside, and is about to write it anew
            notebook = await self.desk.notebook()
            binding = notebook.binding
            assert binding is not None
            said = self.desk.said_in(text)
            return said == [cell.source for cell in notebook.live_cells] and binding.digest == self.desk.digest(text)

        await until(same, True)

    async def all_of(self, given: list[Step]) -> None:
        """One after the other, and then look at what became of it."""
        for step in given:
            await self.do(step)
        await self.check()
        assert (await self.desk.types()).count("FileMerged") <= 2 + 6 * (len(given) + 1)

    async def do(self, step: Step) -> None:
        what, number = step
        desk = self.desk
        match what:
            case "api" | "api adds" | "api removes":
                await self.api(what, number)
            case "editor" | "editor adds" | "editor removes":
                if what == "editor removes":
                    await self.quiet()  # or it removes what no mirror has seen yet
                self.edit(what, number)
            case "agent":
                await self.by_the_agent(number)
            case "lab":
                self.lab(number)
            case "touch":
                os.utime(desk.file)
            case "commit":
                await self.quiet()
                self.git("add", "-A")
                self.git("commit", "-q", "--allow-empty", "-m", "step")
            case "switch":
                await self.quiet()
                self.git("add", "-A")
                self.git("commit", "-q", "--allow-empty", "-m", "before the switch")
                self._branch = "other" if self._branch == "main" else "main"
                self.git("checkout", "-q", self._branch)
            case "stash" | "rebase" | "rename":
                await self.quiet()
                await getattr(self, what)(number)
            case "remove and back":
                await self.quiet()
                text = desk.file.read_text()
                desk.file.unlink()
                # Once: where another server saw that it is back, ours may not have looked, and says nothing new.
                await desk.hear("is gone")
                desk.save(text)
                await self.api("api", number)
                await self.quiet()  # it was seen that it is back
            case "restart":
                await desk.stop()
                await desk.start(every=bool(number % 2))
            case "again":
                await desk.start()
            case _:
                await self.quiet()

    async def api(self, what: str, number: int) -> None:
        cells = await self.desk.cells()
        cell = cells[number % len(cells)]
        if what == "api adds":
            new = e.CellAdded(cell=CellId(f"c{new_id()[-8:]}"), after=cell.id, source=self.text())
            await self.desk.say(new)
        elif what == "api removes" and len(cells) > 2:
            await self.desk.say(e.CellRemoved(cell=cell.id))
        else:
            at = len(cell.source)
            seq = (await self.desk.notebook()).seq
            await self.desk.say(e.SourceEdited(cell=cell.id, base=seq, edit=(Splice(at, 0, f"\n{self.text()}"),)))

    def edit(self, what: str, number: int) -> None:
        desk = self.desk
        said = desk.said()
        place = number % len(said)
        if what == "editor adds":
            said.insert(place, self.text())
        elif what == "editor removes" and len(said) > 2:
            del said[place]
        else:
            said[place] = f"{self.text()}\n{said[place]}"
        text = desk.text_with(*said)
        desk.save(text, WAYS[number % len(WAYS)])
        self.saved |= {f"word_{count:03}" for count in range(self._count + 1) if f"word_{count:03}" in text}

    def lab(self, number: int) -> None:
        """Save as JupyterLab does after a cell ran there: with outputs, through another file that takes the name."""
        desk = self.desk
        if not desk.path.endswith(".ipynb"):
            return self.edit("editor", number)
        notebook = json.loads(desk.file.read_text())
        cell = notebook["cells"][number % len(notebook["cells"])]
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"{self.text()}\n"]}]
        cell["execution_count"] = self._count
        return desk.save(json.dumps(notebook, indent=1) + "\n", "rename")

    async def by_the_agent(self, number: int) -> None:
        """Somebody else, in another process, with a token of their own."""
        assert self._agent is not None
        desk = self.desk
        if self._secret is None:
            token = await desk.workspace.create_token(ActorId("agent:claude"), ("read", "edit"), notebooks=(desk.log,))
            self._secret = token.secret
        word = self.text().partition(" ")[0]
        await asyncio.to_thread(self._agent.edit, desk, self._secret, number, word)
        self.saved.add(word)

    async def stash(self, number: int) -> None:
        """Put what was not committed away, and bring it back."""
        self.edit("editor", number)
        await self.quiet()
        self.git("stash", "-q")
        await self.quiet()
        self.git("stash", "pop", "-q")
        await self.quiet()

    async def rebase(self, number: int) -> None:
        """Put what this branch has on top of a commit that it does not know; git decides where both changed the same."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "before the rebase")
        self.git("branch", "-f", "base", "HEAD")
        self.edit("editor", number)
        await self.quiet()
        self.git("commit", "-q", "--allow-empty", "-a", "-m", "ours")
        self.git("checkout", "-q", "-B", "upstream", "base")
        await self.quiet()
        self.edit("editor", number + 1)
        await self.quiet()
        self.git("commit", "-q", "--allow-empty", "-a", "-m", "theirs")
        self.git("checkout", "-q", self._branch)
        self.git("rebase", "-q", "-X", "theirs", "upstream")
        await self.quiet()

    async def rename(self, number: int) -> None:
        """Give the file another name, change it there, and give it its own again."""
        desk, old = self.desk, self.desk.file
        for name in (f"moved-{number}{old.suffix}", old.name):
            desk.file.rename(old.with_name(name))
            desk.path = name
            await until(self.bound, name)
            await self.api("api", number)
            await self.quiet()

    async def bound(self) -> object:
        binding = (await self.desk.notebook()).binding
        return binding.path if binding is not None else None

    async def check(self) -> None:
        await self.quiet()
        desk = self.desk
        entries = await desk.workspace.entries(desk.log, limit=10_000)
        told = "\n".join(repr(entry.event) for entry in entries)
        assert [word for word in self.saved if word not in told] == []
        for conflict in (await desk.notebook()).conflicts.values():
            assert conflict.ours != conflict.theirs
            assert conflict.cell in (await desk.notebook()).cells
        # No ping-pong: one more change makes one event and one write, whoever is watching.
        seq = (await desk.notebook()).seq
        os.utime(desk.file)
        await desk.edit(0, self.text())
        await self.quiet()
        assert await desk.types(seq) == ["SourceEdited", "FileMerged"]


async def play(path: str, given: list[Step], agent: Agent, *, servers: int) -> None:
    with tempfile.TemporaryDirectory(prefix="quire-mirror-") as name:
        one = Play(Desk(Path(name), path), agent)
        others = [await start(one.desk) for _ in range(1, servers)]
        try:
            await one.begin()
            await one.all_of(given)
        finally:
            for other in others:
                await asyncio.to_thread(other.kill)
            await one.desk.close()


@pytest.mark.slow
@pytest.mark.parametrize("path", FORMATS)
def test_whatever_happens_in_whatever_order_nothing_is_lost_and_it_comes_to_rest(path: str, agent: Agent) -> None:
    """With one server, and with two, of which the other is a process of its own."""

    @settings(max_examples=8, phases=DRAWN)
    @given(steps, st.integers(1, 2))
    def played(given: list[Step], servers: int) -> None:
        asyncio.run(play(path, given, agent, servers=servers))

    played()


@pytest.mark.parametrize("path", ["sales.py", "sales.ipynb"])
def test_every_step_after_every_other_kind_is_played_at_least_once(path: str, agent: Agent) -> None:
    """What hypothesis draws may leave a step out: here none is."""
    asyncio.run(play(path, [(step, number % 8) for number, step in enumerate(STEPS)], agent, servers=2))


@pytest.mark.parametrize("how", WAYS)
async def test_an_editor_that_saves_while_the_mirror_writes_loses_nothing(tmp_path: Path, how: str) -> None:
    """It saves in the moment in which a new file stands beside its own: before they change places, or after."""
    one = Play(Desk(tmp_path))
    await one.begin()
    rounds, saved = 6, 0
    ends = time.monotonic() + 2 * PATIENCE

    def save_meanwhile() -> None:
        nonlocal saved
        while saved < rounds and time.monotonic() < ends:
            text = one.desk.file.read_text() if one.desk.file.exists() else ""
            if text and any(each.name.endswith(".quire~") for each in tmp_path.iterdir()):
                saved += 1
                one.desk.save(f"{text.rstrip()}\nsaved_{saved:02} = {saved}\n", how)

    typing = asyncio.ensure_future(asyncio.to_thread(save_meanwhile))
    while not typing.done():
        await one.api("api adds", 0)
        await one.quiet()
    await one.quiet()
    entries = await one.desk.workspace.entries(one.desk.log, limit=10_000)
    told = "\n".join(repr(entry.event) for entry in entries)
    assert saved == rounds
    assert [number for number in range(1, rounds + 1) if f"saved_{number:02}" not in told] == []
    await one.desk.close()
