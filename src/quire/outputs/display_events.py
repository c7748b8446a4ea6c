"""What a kernel says while a cell runs, as events.

Messages in, events out: no clock, no kernel, no log. `ExecutionDisplays.take` collects what one
execution shows; `flush` returns the events for what came since, fewer than there were
messages: texts of one stream are one event, of a display that is updated a thousand times
the last state is, and what was cleared before anybody saw it is none.

Whoever calls keeps the blobs before it submits the events that name them.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from ..core import events as e
from ..core.errors import BadInput
from ..core.events import Display, Fault, Raised, StreamName
from ..core.ids import ExecutionId, check_name
from ..core.notebook.notebook import INLINE_TEXT
from ..core.values import Json
from .media import Media, fault_in, fields_in, media_in, text_in, whole_characters
from .result_displays import results_in
from .secrets import Remover
from .streams import Blob, SpoolFile, StreamOutput, Tape

MOST_INLINE = 8_000_000
"""Displays of one execution stay inline up to so much in all: whoever reads the notebook holds it."""
SHORT_TEXT = 1000
"""What stays of each text or JSON after that."""

ShowingEvent: TypeAlias = e.StreamAppended | e.OutputAdded | e.DisplayUpdated | e.OutputsCleared | e.ResultRecorded


class KernelMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message from a kernel, as decoded from the wire."""

    type: str
    content: dict[str, Json]
    metadata: dict[str, Json] = {}
    parent_id: str | None = None
    """The id of the request that it answers or belongs to."""
    buffers: tuple[bytes, ...] = ()
    channel: str = "iopub"


class EventBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Events in order, and the blobs that have to be kept before, by their hash."""

    events: list[ShowingEvent]
    blobs: dict[str, Blob]


class _PendingOutput(msgspec.Struct, frozen=True):
    """An output that waits."""

    content: dict[str, Json]
    display_id: str | None = None
    count: int | None = None


class _PendingError(msgspec.Struct, frozen=True):
    """An error that waits."""

    fault: Fault


class _PendingUpdate(msgspec.Struct):
    """A display that is to show something else, in whatever cell it is. The last word counts."""

    display_id: str
    content: dict[str, Json]


class _PendingResult(msgspec.Struct, frozen=True):
    """A display that may carry results."""

    content: dict[str, Json]


class _PendingClear(msgspec.Struct, frozen=True):
    """What the log shows of the execution is to go."""


_Waiting: TypeAlias = StreamOutput | _PendingOutput | _PendingError | _PendingUpdate | _PendingResult | _PendingClear
_LONGEST_ID = 1000
_MOST = 2**53


class ExecutionDisplays:
    """What one execution shows, from its first message to its last."""

    def __init__(
        self, execution: ExecutionId, epoch: int, spool: SpoolFile, remover: Remover | None = None, first_chunk: int = 0
    ) -> None:
        self.count: int | None = None
        """The kernel's number of the execution."""
        self.fault: Fault | None = None
        """The last error it showed."""
        self.is_idle = False
        """Whether the kernel has said that nothing more comes."""
        self.notes: list[str] = []
        """What could not be kept, in words for people."""
        self._execution, self._epoch, self._chunk = execution, epoch, first_chunk
        self._tape = Tape(spool)
        self._remover = remover or Remover({})
        self._waiting: list[_Waiting] = []
        self._updates: dict[str, _PendingUpdate] = {}
        self._open: StreamOutput | None = None
        """The stream that is the last output: it goes on if more of it comes."""
        self._printed: list[str] = []
        self._printed_name: StreamName = "stdout"
        self._printed_size = self._shown_size = self._inline_size = 0
        self._halves: dict[StreamName, str] = {}
        self._is_visible = False
        self._clears_next = False
        self._recorded: set[str] = set()

    @property
    def behind(self) -> int:
        """How long the stream is of which the log lacks the last text; 0 when it has all that was flushed."""
        return self._open.length if self._open is not None and not self._open.is_sent else 0

    @property
    def size(self) -> int:
        """Roughly how many code points wait to be flushed: for whoever reads to know when to pause."""
        return self._printed_size + self._shown_size

    # ---- Taking

    def take(self, message: KernelMessage) -> None:
        """Collect what a message says. Messages of other kinds are passed over; none is refused."""
        content = fields_in(message.content)
        match message.type:
            case "stream":
                self._print("stderr" if content.get("name") == "stderr" else "stdout", content.get("text"))
            case "display_data" | "execute_result" as kind:
                self._display(content, is_result=kind == "execute_result")
            case "update_display_data":
                self._update(content)
            case "clear_output":
                self._clear(wait=bool(content.get("wait")))
            case "error":
                self._raise(content)
            case "execute_input":
                self.count = _number(content.get("execution_count"), self.count)
            case "status":
                self.is_idle = content.get("execution_state") == "idle"
            case _:
                pass

    def _print(self, name: StreamName, given: Json) -> None:
        text = given if isinstance(given, str) else text_in(given)
        if not text:
            return
        self._clear_if_waited_for()
        if name != self._printed_name:
            self._fold()
            self._printed_name = name
        self._printed.append(text)
        self._printed_size += len(text)
        if self._printed_size > INLINE_TEXT:
            self._fold()

    def _fold(self, *, is_over: bool = False) -> None:
        """Put what was printed through the terminal: many small texts at once cost as much as one."""
        name, text = self._printed_name, "".join(self._printed)
        self._printed, self._printed_size = [], 0
        text = self._halves.pop(name, "") + text
        if not is_over and "\ud800" <= text[-1:] <= "\udbff":
            self._halves[name], text = text[-1], text[:-1]
        key = self._key(name)
        text = self._remover.feed(key, whole_characters(text)) if text else ""
        self._go_on(name, text + self._remover.flush(key) if is_over else text)

    def _key(self, name: StreamName) -> str:
        """What the remover knows a stream by: one remover may serve many executions."""
        return f"{self._execution} {name}"

    def _go_on(self, name: StreamName, text: str) -> None:
        if not text:
            return
        if self._open is None or self._open.name != name:
            self._close()
            self._open = StreamOutput(name, self._tape, self._remover.masked)
        self._open.feed(text)
        self._wait_to_send(self._open)

    def _close(self) -> None:
        """Another output comes: what the stream still has to say comes before it."""
        if self._open is not None and not self._open.is_sent:
            self._wait_to_send(self._open)
        self._open = None

    def _wait_to_send(self, printing: StreamOutput) -> None:
        if not printing.waits:
            printing.waits = True
            self._waiting.append(printing)

    def _begin_output(self) -> None:
        self._clear_if_waited_for()
        self._fold()
        self._close()

    def _display(self, content: dict[str, Json], *, is_result: bool) -> None:
        self._begin_output()
        display_id = _display_id(content)
        count = _number(content.get("execution_count"), self.count or 0) if is_result else None
        self._waiting += (_PendingOutput(content, display_id, count), _PendingResult(content))
        if display_id is not None:
            # An update from before is not for this one: it must not be overtaken by a later one.
            self._updates.pop(display_id, None)
        self._shown_size += _size(content)

    def _update(self, content: dict[str, Json]) -> None:
        display_id = _display_id(content)
        if display_id is None:  # nobody can say which is meant, so it is one more
            self._display(content, is_result=False)
        elif display_id in self._updates:
            self._updates[display_id].content = content
        else:
            self._updates[display_id] = _PendingUpdate(display_id, content)
            self._waiting.append(self._updates[display_id])
            self._shown_size += _size(content)

    def _raise(self, content: dict[str, Json]) -> None:
        self._begin_output()
        self.fault = fault_in(content, self._remover)
        self._waiting.append(_PendingError(self.fault))

    # ---- Clearing

    def _clear(self, *, wait: bool) -> None:
        self._clears_next = wait
        if wait:
            return
        self._printed, self._printed_size, self._shown_size, self._inline_size = [], 0, 0, 0
        self._halves.clear()
        self._remover.drop(self._key("stdout"))
        self._remover.drop(self._key("stderr"))
        self._open = None
        self._tape.drop()
        self._waiting = [
            each for each in self._waiting if not isinstance(each, StreamOutput | _PendingOutput | _PendingError)
        ]
        if self._is_visible:
            self._waiting.append(_PendingClear())
            self._is_visible = False

    def _clear_if_waited_for(self) -> None:
        if self._clears_next:
            self._clear(wait=False)

    # ---- Flushing

    def flush(self, *, everything: bool = False) -> EventBatch:
        """Return the events for what came since, and the blobs they name.

        A stream that has become long is sent when it has grown a good deal, for each time its
        whole text is a blob (see `behind`); with `everything` it is sent as it is.
        """
        self._fold()
        shown = EventBatch(events=[], blobs={})
        waiting, self._waiting, self._updates, self._shown_size = self._waiting, [], {}, 0
        if everything and self._open is not None:
            waiting.append(self._open)
        for each in waiting:
            self._send(each, shown, everything=everything)
        return shown

    def finish(self) -> EventBatch:
        """Return the rest, when nothing more comes."""
        self._fold(is_over=True)
        self._printed_name = "stderr" if self._printed_name == "stdout" else "stdout"
        self._fold(is_over=True)
        return self.flush(everything=True)

    def _send(self, waiting: _Waiting, shown: EventBatch, *, everything: bool) -> None:
        match waiting:
            case StreamOutput():
                waiting.waits = False
                is_open = waiting is self._open and not everything
                if waiting.is_due if is_open else not waiting.is_sent:
                    self._send_stream(waiting, shown)
            case _PendingOutput():
                self._add(self._display_of(waiting, shown), shown)
            case _PendingError(fault):
                self._add(Raised(ename=fault.ename, evalue=fault.evalue, traceback=fault.traceback), shown)
            case _PendingUpdate():
                shown.events.append(self._updated(waiting, shown))
            case _PendingResult():
                self._record(waiting.content, shown)
            case _PendingClear():
                chunk = self._next_chunk()
                shown.events.append(e.OutputsCleared(execution=self._execution, epoch=self._epoch, chunk=chunk))

    def _display_of(self, added: _PendingOutput, shown: EventBatch) -> Display:
        media = self._media(added.content, shown)
        self._inline_size += media.inline_size
        return Display(
            data=media.data,
            blobs=media.refs,
            metadata=media.metadata,
            display_id=added.display_id,
            count=added.count,
        )

    def _updated(self, updated: _PendingUpdate, shown: EventBatch) -> e.DisplayUpdated:
        media = self._media(updated.content, shown)
        return e.DisplayUpdated(
            execution=self._execution,
            epoch=self._epoch,
            chunk=self._next_chunk(),
            display_id=updated.display_id,
            data=media.data,
            blobs=media.refs,
            metadata=media.metadata,
        )

    def _send_stream(self, printing: StreamOutput, shown: EventBatch) -> None:
        texts, blob = printing.send()
        if blob is not None:
            shown.blobs[blob.ref.hash] = blob
        for offset, text, ref in texts:
            shown.events.append(
                e.StreamAppended(
                    execution=self._execution,
                    epoch=self._epoch,
                    chunk=self._next_chunk(),
                    name=printing.name,
                    offset=offset,
                    text=text,
                    blob=ref,
                )
            )
        self._is_visible = True

    def _add(self, output: Display | Raised, shown: EventBatch) -> None:
        chunk = self._next_chunk()
        shown.events.append(e.OutputAdded(execution=self._execution, epoch=self._epoch, chunk=chunk, output=output))
        self._is_visible = True

    def _media(self, content: dict[str, Json], shown: EventBatch) -> Media:
        most = INLINE_TEXT if self._inline_size < MOST_INLINE else SHORT_TEXT
        media = media_in(content, self._remover, most)
        shown.blobs.update({blob.ref.hash: blob for blob in media.blobs.values()})
        return media

    def _next_chunk(self) -> int:
        self._chunk += 1
        return self._chunk - 1

    # ---- Results

    def _record(self, content: dict[str, Json], shown: EventBatch) -> None:
        for found in results_in(content, self._remover):
            if found.is_shown and found.name in self._recorded:
                continue
            try:
                check_name(found.name, "A result's name")
            except BadInput as error:
                self.notes.append(f"{error} The display that carries it is kept.")
                continue
            self._recorded.add(found.name)
            value, blob = found.value, found.blob
            if blob is not None:
                shown.blobs[blob.ref.hash] = blob
            shown.events.append(
                e.ResultRecorded(
                    execution=self._execution,
                    epoch=self._epoch,
                    name=found.name,
                    kind=found.kind,
                    value=value,
                    blob=blob.ref if blob is not None else None,
                )
            )


def _display_id(content: dict[str, Json]) -> str | None:
    found = fields_in(content.get("transient")).get("display_id")
    return whole_characters(found)[:_LONGEST_ID] if isinstance(found, str) and found else None


def _number(value: Json, default: int | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else default


def _size(content: dict[str, Json]) -> int:
    return sum(len(each) if isinstance(each, str) else 1000 for each in fields_in(content.get("data")).values())
