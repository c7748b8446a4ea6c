"""Those who write in one notebook at the same time, each edit with a mark of its own: a character that nobody else uses.

Agents know what they were told, and never read again: what an answer or a refusal says is all they have. A person follows
the log as a browser does, and types at a place in the text as it was a while ago.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any, TypeAlias

import httpx
import msgspec

from quire.core import events as e
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.reduce import fold
from quire.core.text import Splice, source_hash
from quire.workspace.clock import new_id
from quire.workspace.wire import frames

Call: TypeAlias = Callable[[list[dict[str, Any]]], tuple[bool, dict[str, Any]]]
"""Sends a batch of edits; whether it was made, and the facts."""
FIRST_MARK = 0x20000
MOST_MARKS = 40_000
MOST_TRIES = 200
"""So often somebody else may be faster before one gives up; nobody is that unlucky."""

_numbers = count()


def new_mark() -> str:
    """A character that nobody has used. One character, so that no edit can share a part of it with another."""
    number = next(_numbers)
    assert number < MOST_MARKS
    return chr(FIRST_MARK + number)


def marks(text: str) -> list[str]:
    """The marks in a text."""
    return [char for char in text if FIRST_MARK <= ord(char) < FIRST_MARK + MOST_MARKS]


class Change(msgspec.Struct, frozen=True):
    """What somebody wants of a text: a mark that comes, and one that goes. Either may be missing."""

    comes: str = ""
    goes: str = ""

    def applied(self, text: str) -> str:
        """The text with it."""
        if self.comes and self.goes:
            return text.replace(self.goes, self.comes)
        if self.goes:
            return "\n".join(line for line in text.split("\n") if self.goes not in line)
        return f"{text}\n# {self.comes}"


class Writer:
    """Somebody, and what became of what they wanted."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.came: set[str] = set()
        """The marks of edits that were accepted."""
        self.went: set[str] = set()
        """The marks that somebody meant to remove, and did."""

    def change(self, text: str) -> Change:
        there = marks(text)
        match self.random.randrange(5):
            case 0 if there:
                return Change(goes=self.random.choice(there))
            case 1 if there:
                return Change(new_mark(), self.random.choice(there))
            case _:
                return Change(new_mark())

    def done(self, before: str, after: str) -> None:
        """What was accepted made this of that, as far as one knew."""
        self.came.update(set(marks(after)) - set(marks(before)))
        self.went.update(set(marks(before)) - set(marks(after)))


class AgentWriter(Writer):
    """An agent. It has read the notebook once; from then on it lives on answers."""

    def __init__(self, seed: int, call: Call, known: dict[str, str]) -> None:
        super().__init__(seed)
        self._call, self._known = call, dict(known)
        self._unsure: set[str] = set()
        """The cells that were changed without being read: others may have been there."""
        self.refusals = 0

    def step(self) -> None:
        """Do something, for as long as it takes."""
        ways = [self._replace] * 4 + [
            self._replace_two,
            self._patch,
            self._patch,
            self._insert,
            self._delete,
            self._move,
        ]
        # What others took out is gone for us, too; what they put in we have not seen.
        (self.random.choice(ways) if len(self._known) > 2 else self._insert)()

    def _cell(self) -> str:
        return self.random.choice(sorted(self._known))

    def _tries(self) -> Iterator[int]:
        yield from range(MOST_TRIES)
        raise AssertionError("refused again and again")

    # ---- Whole texts, against what was read

    def _replace(self) -> None:
        self._replace_all([self._cell()])

    def _replace_two(self) -> None:
        self._replace_all(self.random.sample(sorted(self._known), 2))

    def _replace_all(self, cells: list[str]) -> None:
        for _ in self._tries():
            cells = [cell for cell in cells if cell in self._known]
            if not cells:  # somebody took them out: what was to be said there is said elsewhere
                return self._insert()
            changes = {cell: self.change(self._known[cell]) for cell in cells}
            wanted = {cell: change.applied(self._known[cell]) for cell, change in changes.items()}
            edits = [
                {"op": "replace", "cell": cell, "base": source_hash(self._known[cell])[:12], "source": text}
                for cell, text in wanted.items()
            ]
            if self._was_made(edits):
                for cell, text in wanted.items():
                    self.done(self._known[cell], text)
                self._known |= wanted
                return

    def _was_made(self, edits: list[dict[str, Any]]) -> bool:
        """Send a batch; if it was refused, learn from what was said, and from nothing else."""
        made, facts = self._call(edits)
        if made:
            return True
        self.refusals += 1
        for fault in facts.get("faults", [facts]):
            self._learn(fault)
        return False

    def _learn(self, fault: dict[str, Any]) -> None:
        cell = fault["cell"]
        if fault.get("removed"):
            del self._known[cell]
            return
        assert source_hash(fault["source"]) == fault["source_hash"]
        if fault["error"] == "Refused":
            assert fault["base"] == self._known[cell] and fault["difference"] and fault["changed_by"], fault
        else:
            assert "lines" in fault or cell in self._unsure, fault
        self._known[cell] = fault["source"]
        self._unsure.discard(cell)

    # ---- Others

    def _patch(self) -> None:
        """A mark for another one, wherever it stands by now."""
        for _ in self._tries():
            marked = [cell for cell in sorted(self._known) if marks(self._known[cell])]
            if not marked:
                return
            cell = self.random.choice(marked)
            change = Change(new_mark(), self.random.choice(marks(self._known[cell])))
            if self._was_made([{"op": "patch", "cell": cell, "old": change.goes, "new": change.comes}]):
                self.done(change.goes, change.comes)
                self._known[cell] = change.applied(self._known[cell])
                self._unsure.add(cell)
                return

    def _insert(self) -> None:
        if len(self._known) > 8:
            return
        mark = new_mark()
        for _ in self._tries():
            after = self.random.choice([*sorted(self._known), "top", "end"])
            made, facts = self._call([{"op": "insert", "after": after, "source": f"# {mark}"}])
            if made:
                self._known[facts["inserted"][0]] = f"# {mark}"
                self.done("", mark)
                return
            self.refusals += 1
            self._learn(facts)

    def _delete(self) -> None:
        """A cell goes as it was read; what it said stays in the log, and with it the marks."""
        cell = self._cell()
        for _ in self._tries():
            if cell not in self._known or len(self._known) < 4:
                return
            if self._was_made([{"op": "delete", "cell": cell, "base": source_hash(self._known[cell])}]):
                del self._known[cell]
                return

    def _move(self) -> None:
        for _ in self._tries():
            if len(self._known) < 2:
                return
            cell, after = self.random.sample(sorted(self._known), 2)
            if self._was_made([{"op": "move", "cell": cell, "after": after}]):
                return


class PersonWriter(Writer):
    """A person in a browser: what they type is rebased over what came first (rule 8), and never refused."""

    def __init__(self, seed: int, client: httpx.Client, log: str) -> None:
        super().__init__(seed)
        self._client, self._log = client, log
        self._seen = Notebook()
        self._follow()

    def _follow(self) -> None:
        answer = self._client.get(f"/api/logs/{self._log}/events", params={"since": self._seen.seq})
        assert answer.status_code == 200, answer.text
        self._seen = fold(
            map(frames.to_entry, msgspec.json.decode(answer.content, type=frames.LogPage).entries), self._seen
        )

    def step(self) -> None:
        """Type something into a cell as it was seen last."""
        if self.random.random() < 0.6:
            self._follow()
        cell = self.random.choice([*self._seen.live_cells])
        splice = self._splice(cell.source, self.change(cell.source))
        event = e.SourceEdited(cell=cell.id, base=self._seen.seq, edit=(splice,))
        draft = {"id": new_id(), "event": msgspec.to_builtins(event)}
        answer = self._client.post(f"/api/logs/{self._log}/events", json={"drafts": [draft]})
        assert answer.status_code == 200, answer.text
        self.done(cell.source[splice.at :][: splice.remove], splice.insert)

    def _splice(self, text: str, change: Change) -> Splice:
        if change.goes:
            at = text.index(change.goes)
            # A mark for a mark, or the mark with the line that it stands on.
            start = at if change.comes else max(text.rfind("\n", 0, at), 0)
            return Splice(start, at + 1 - start, change.comes)
        at = self.random.choice([0, len(text)])
        return Splice(at, 0, f"# {change.comes}\n" if at == 0 else f"\n# {change.comes}")
