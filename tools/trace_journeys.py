"""Count the modules of ours that each journey of docs/explanation/architecture.md goes through.

A module counts when one of its functions is called in the process under trace, between the first and the last step of the
journey, in any thread. What does not count:

- what is called while modules are imported, and what Python generates (the methods of dataclasses and structs);
- properties: they are read like fields, and most are all that a module of data has to call;
- `__init__`: what is only made, and not used on this journey, is nothing that a reader opens; nor a module's `__getattr__`;
- what sets the scene: for an agent, a browser and a mirror the workspace is open, and closed again, outside the trace. The
  first journey is a whole process, from its first line to its exit;
- other processes: kernels, the runtime that runs an agent's cell, git.

Each journey runs in a process of its own, on a fresh folder, with a real kernel, file, socket or repository, and fails
unless it comes to its usual end.

    python tools/trace_journeys.py            # the five figures
    python tools/trace_journeys.py --modules  # and the modules behind them
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = str(ROOT / "src" / "quire") + os.sep
Traced = Callable[[], AbstractContextManager[None]]

NOTEBOOK = '# %% tags=["parameters"]\ntop = 2\n\n# %%\nprint("top", top)\n'


class Tracer:
    """Notes the modules whose functions are called, in all threads, while it is on."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._is_on = False

    def install(self) -> None:
        """Begin, off. Threads that exist already are not seen, so this comes first."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    @contextmanager
    def on(self) -> Generator[None]:
        """Note what is called in this block."""
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if not self._is_on or event != "call" or code.co_filename in self.modules:
            return
        if code.co_filename.startswith(SOURCE) and _is_step(code) and not _is_imported(frame):
            self.modules.add(code.co_filename)


def _is_step(code: CodeType) -> bool:
    """Whether this is a function that a reader of the journey follows: no class body, no constructor, no property."""
    function = code.co_qualname.partition(".<locals>")[0]
    if not code.co_flags & inspect.CO_NEWLOCALS or function.rpartition(".")[2] == "__init__":
        return False
    return function != "__getattr__" and function not in _properties(code.co_filename)


@cache
def _properties(path: str) -> frozenset[str]:
    """Return the qualified names of the properties that a module defines."""
    return frozenset(
        f"{owner.name}.{function.name}"
        for owner in ast.walk(ast.parse(Path(path).read_text("utf-8")))
        if isinstance(owner, ast.ClassDef)
        for function in owner.body
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id.endswith("property") for mark in function.decorator_list)
    )


def _is_imported(frame: FrameType | None) -> bool:
    """Whether a module is being imported by what led to this call."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(SOURCE):
            return True
        frame = frame.f_back
    return False


def run_a_notebook(folder: Path, traced: Traced) -> None:
    """`quire run notebook.py out.ipynb -p top=5`, to the file and the log."""
    (folder / "notebook.py").write_text(NOTEBOOK)
    with traced():
        _quire("run", "notebook.py", "out.ipynb", "-p", "top=5")


def edit_by_an_agent(folder: Path, traced: Traced) -> None:
    """The tool `edit` of an agent, with `run`: from the call to its answer. The kernel's runtime is another process."""
    from tests.journeys.live_runtimes import end_runtimes

    from quire.connection import connect
    from quire.doors.mcp.tool_call import call
    from quire.doors.mcp.tools import TOOLS
    from quire.verbs.answers.answer import Here

    async def edit(**run: str) -> str:
        workspace = await connect(folder)
        here = Here(workspace=workspace, folder=folder, may_start=True)
        insert = {"op": "insert", "after": "end", "source": "6 * 7"}
        with traced() if run else contextlib.nullcontext():
            answer = await call(here, TOOLS["edit"], {"notebook": "n", "edits": [insert], **run})
        await workspace.close()
        return answer.text

    _quire("init")
    asyncio.run(edit())
    try:
        _quire("execute", "n", "-c", "1")  # starts a runtime
        answer = asyncio.run(edit(run="changed"))
        if "42" not in answer:
            sys.exit(f"The cell did not run:\n{answer}")
    finally:
        end_runtimes(folder)


def submit_over_a_socket(folder: Path, traced: Traced) -> None:
    """What one connection submits, another one that follows the notebook is sent."""
    from tests.doors.http.sockets import LOG, connected, note, notebook, sent, token
    from tests.http_server import served

    from quire.connection import connect
    from quire.core import events as e
    from quire.core.ids import CellId
    from quire.workspace.wire import frames

    async def submit_and_follow() -> None:
        workspace: Any = await connect(folder)
        await notebook(workspace)
        async with served(workspace) as server:
            secret = await token(workspace)
            async with connected(server, secret) as author, connected(server, secret) as follower:
                for client in (author, follower):
                    await client.follow()
                    await client.until(1)
                await note(workspace, 1)  # both follow, and nothing is done for the first time
                await follower.until(2)
                submission = frames.Submit(id="s", log=LOG, drafts=[sent(e.CellAdded(cell=CellId("c1"), after=None))])
                with traced():
                    await author.send(submission)
                    await follower.until(3)
        await workspace.close()

    asyncio.run(submit_and_follow())


def save_a_bound_file(folder: Path, traced: Traced) -> None:
    """A file that a notebook is bound to is saved by an editor, and its log has the change."""
    from tests.actors.mirror.mirror_desk import Desk

    def recorded() -> int:
        with contextlib.closing(sqlite3.connect(folder / ".quire" / "quire.db")) as database:
            return database.execute("select count(*) from events").fetchone()[0]

    async def save() -> None:
        desk = Desk(folder)
        await desk.write("1 + 1")
        await desk.start()
        await desk.agree("1 + 1")
        text = desk.text_with("2 + 2")
        before = recorded()
        with traced():
            desk.file.write_text(text)
            while recorded() == before:  # noqa: ASYNC110, what records it is the mirror under trace
                await asyncio.sleep(0.01)
        await desk.agree("2 + 2")
        await desk.close()

    asyncio.run(save())


def compare_in_git(folder: Path, traced: Traced) -> None:
    """`git diff` of an `.ipynb`, as git calls it."""
    from quire.git.__main__ import main

    (folder / "notebook.py").write_text(NOTEBOOK)
    _quire("convert", "notebook.py", "old.ipynb")
    new = (folder / "old.ipynb").read_text().replace("top = 2", "top = 3")
    (folder / "new.ipynb").write_text(new)
    sides = ("old.ipynb", "1" * 40, "100644", "new.ipynb", "2" * 40, "100644")
    printed = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(printed)), traced():
        main(["diff", "{}", "notebook.ipynb", *sides])
        difference = printed.getvalue().decode()
    if "+top = 3" not in difference or "@@" not in difference:
        sys.exit(f"The cells were not compared:\n{difference}")


JOURNEYS: dict[str, Callable[[Path, Traced], None]] = {
    "quire run, to file and log": run_a_notebook,
    "an agent's edit with its run": edit_by_an_agent,
    "a socket's submission to another follower": submit_over_a_socket,
    "a bound file's change to the log": save_a_bound_file,
    "git diff of an .ipynb": compare_in_git,
}


@contextmanager
def _quietly() -> Generator[None]:
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _quire(*arguments: str) -> None:
    from quire.doors.cli.start import main

    sys.argv = ["quire", *arguments]
    with _quietly():
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                sys.exit(f"quire {' '.join(arguments)} ended with {ended.code}")


def main() -> None:
    """Trace one journey in this process where it is named, else all, each in a process of its own."""
    if sys.argv[1:2] == ["--one"]:
        return _trace(sys.argv[2])
    for name in JOURNEYS:
        traced = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True, check=False)
        if traced.returncode:
            sys.exit(traced.stderr)
        modules = traced.stdout.split()
        print(f"{len(modules):4}  {name}")
        if "--modules" in sys.argv:
            print(*(f"        {module}" for module in modules), sep="\n")


def _trace(name: str) -> None:
    tracer = Tracer()
    tracer.install()
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        JOURNEYS[name](Path(folder), tracer.on)
    print(*sorted(module.removeprefix(SOURCE) for module in tracer.modules), sep="\n")


if __name__ == "__main__":
    main()
