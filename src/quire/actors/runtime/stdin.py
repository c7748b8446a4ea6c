"""What cells ask, until somebody answers.

A question is said on the lane `stdin` again and again: a server that began anew and whoever comes later hear it. The
answer stands in the log, under the name of whoever gave it. Of a password the log says only by whom it was answered; the
value comes on the lane, and counts if it is from the same one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...core.errors import QuireError
from ...core.events import Entry, InputAnswered
from ...core.ids import ActorId, ExecutionId, LogId
from ...core.notebook.notebook import Input
from ...outputs.media import whole_characters
from ...outputs.secrets import Remover
from ...workspace.lanes import lane_messages
from ...workspace.lanes.runtime_info import answer_key
from ...workspace.protocol import Workspace

if TYPE_CHECKING:
    from .run_cell import PromptHandler

AGAIN_SECONDS = 2.0
"""How often a question is said while nobody answers."""
AWAY_SECONDS = 1.0
MOST_PROMPT = 4000
MOST_TOLD = 16


class _Question:
    """One question, and what came of it so far."""

    def __init__(self, asked: lane_messages.Prompt, key: str, since: int) -> None:
        self.asked, self.key, self.since = asked, key, since
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_answered = asyncio.Event()
        self._given_by: ActorId | None = None
        self._told: dict[ActorId, str] = {}

    def is_meant(self, entry: Entry, event: InputAnswered) -> bool:
        """Whether an answer is to this question."""
        return entry.seq > self.since and (entry.key == self.key or event.prompt == self.asked.prompt)

    def given(self, by: ActorId, answer: str | None) -> None:
        """The log says that somebody answered; the first counts."""
        if self._given_by is None:
            self._given_by = by
            self.is_answered.set()
            self._settle(self._told.get(by) if answer is None else answer)

    def told(self, by: ActorId, answer: str) -> None:
        """Somebody says what is in no log."""
        if len(self._told) < MOST_TOLD:
            self._told[by] = answer
        if by == self._given_by:
            self._settle(answer)

    def _settle(self, answer: str | None) -> None:
        if answer is not None and not self.answer.done():
            self.answer.set_result(answer)


class Questions:
    """The questions of the cells of one runtime in one notebook."""

    def __init__(
        self,
        runtime: Workspace,
        log: LogId,
        say: Callable[[lane_messages.LaneMessage], None],
        remover: Remover,
        secret_seconds: float,
    ) -> None:
        """`secret_seconds` is how long to wait for a password that the log says was given."""
        self._runtime, self._log, self._say, self._remover = runtime, log, say, remover
        self._secret_seconds = secret_seconds
        self._open: dict[ExecutionId, _Question] = {}
        self._handed_over: tuple[ExecutionId, int] | None = None

    def goes_on(self, execution: ExecutionId, answered: int) -> None:
        """An earlier process had so many answers for the kernel. What was answered after that it has not given on."""
        self._handed_over = execution, answered

    def of(self, execution: ExecutionId) -> PromptHandler:
        """How a cell asks."""

        async def asked(prompt: str, *, password: bool) -> str:
            clean = self._remover.clean_text(whole_characters(prompt))[:MOST_PROMPT]
            while True:
                try:
                    return await self._ask(execution, clean, password)
                except TimeoutError:
                    continue  # the log says that it was answered, and nobody has said what

        return asked

    async def _ask(self, execution: ExecutionId, prompt: str, password: bool) -> str:
        given, since = await self._given(execution)
        if (left := self._left_over(execution, given, prompt)) is not None:
            return left
        asked = lane_messages.Prompt(execution=execution, prompt=prompt, password=password, question=len(given) + 1)
        question = self._open[execution] = _Question(asked, answer_key(self._log, asked), since)
        try:
            await self._until_answered(question)
            async with asyncio.timeout(self._secret_seconds):
                return await asyncio.shield(question.answer)
        finally:
            question.answer.cancel()
            del self._open[execution]
            self._say(lane_messages.PromptAnswered(execution=execution, question=asked.question))

    async def _until_answered(self, question: _Question) -> None:
        while not question.is_answered.is_set():
            self._say(question.asked)
            try:
                async with asyncio.timeout(AGAIN_SECONDS):
                    await question.is_answered.wait()
            except TimeoutError:
                continue

    def _left_over(self, execution: ExecutionId, given: Sequence[Input], prompt: str) -> str | None:
        """An answer from while nobody was there to take it: whoever gave it is not asked again."""
        known, self._handed_over = self._handed_over, None
        if known is None or known[0] != execution or len(given) <= known[1] or given[-1].prompt != prompt:
            return None
        return given[-1].answer

    async def _given(self, execution: ExecutionId) -> tuple[Sequence[Input], int]:
        """All answers of the execution, by what the log says, and up to where that was read."""
        while True:
            try:
                notebook = await self._runtime.read(self._log)
            except QuireError:
                await asyncio.sleep(
                    AWAY_SECONDS
                )  # it may be there again; a cell that nobody answers can be interrupted
                continue
            found = notebook.execution(execution)
            return found.inputs if found is not None else (), notebook.seq

    # ---- Answers

    def recorded(self, entry: Entry) -> None:
        """The log has grown by an answer, perhaps."""
        event = entry.event
        if not isinstance(event, InputAnswered):
            return
        question = self._open.get(event.execution)
        if question is not None and question.is_meant(entry, event):
            question.given(entry.actor, event.answer)

    def told(self, answer: lane_messages.SecretAnswer, by: ActorId) -> bool:
        """Somebody said a password; False when nobody asked for it."""
        question = self._open.get(answer.execution)
        if question is None or question.asked.question != answer.question:
            return False
        question.told(by, answer.answer)
        return True
