"""Kernel messages become events that the rules accept and that fold to what the cell showed."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core import codec
from quire.core import events as e
from quire.core.events import Display, Output, Raised, Stream
from quire.core.ids import CellId, ExecutionId, RuntimeId
from quire.core.notebook.notebook import INLINE_TEXT, Cell, Notebook
from quire.core.notebook.reduce import Fold
from quire.core.text import source_hash
from quire.core.values import untag
from quire.outputs.display_events import MOST_INLINE, SHORT_TEXT, EventBatch, ExecutionDisplays, KernelMessage
from quire.outputs.secrets import Remover
from quire.outputs.terminal import Terminal
from quire.outputs.widgets import WIDGET_STATE, WidgetStates

from ..random_logs import ADA, RUNTIME, attempt, created

RECORDINGS = Path(__file__).with_name("recordings")
HALF = INLINE_TEXT // 2
PNG = base64.b64encode(bytes(range(256)) * 8).decode()


class Running:
    """A notebook of cells that run one after the other; every event goes through the rules and the codec."""

    def __init__(self) -> None:
        self.log = [created()]
        self.folding = Fold()
        self.folding.add(self.log[0])
        self.blobs: dict[str, bytes] = {}
        self.events: list[e.KnownEvent] = []
        self.cell = CellId("")
        self.execution = ExecutionId("")
        self.epoch = 0

    def say(self, actor: Any, event: Any) -> Any:
        made = attempt(self.log, self.folding, actor, event)
        assert made is not None, event
        return made.event

    def start(self, **options: Any) -> ExecutionDisplays:
        """Run one more cell."""
        number = len(self.folding.now.order)
        self.cell, self.execution = CellId(f"cell{number}"), ExecutionId(f"x{number}")
        self.say(ADA, e.CellAdded(cell=self.cell, after=None))
        request: dict[str, Any] = {"execution": self.execution, "cell": self.cell, "source_hash": source_hash("")}
        self.say(ADA, e.ExecutionRequested(**request))
        claimed = self.say(RUNTIME, e.ExecutionClaimed(execution=self.execution, runtime=RuntimeId(RUNTIME)))
        self.epoch = claimed.epoch
        self.say(RUNTIME, e.ExecutionStarted(**request, epoch=self.epoch))
        return ExecutionDisplays(self.execution, self.epoch, io.BytesIO(), **options)

    def keep(self, shown: EventBatch) -> None:
        """Do as a runtime does: blobs first, then events."""
        for hash, blob in shown.blobs.items():
            data = b"".join(blob.pieces())
            assert (hash, len(data)) == (sha256(data).hexdigest(), blob.ref.size)
            assert blob.ref.hash == hash
            self.blobs[hash] = data
        for event in shown.events:
            assert codec.decode(codec.encode(event)) == event
            self.say(RUNTIME, event)
            self.events.append(event)

    @property
    def notebook(self) -> Notebook:
        return self.folding.now

    def outputs(self, cell: CellId | None = None) -> list[Output]:
        found: Cell = self.notebook.cells[cell or self.cell]
        assert found.execution is not None
        return found.execution.outputs

    def whole(self, stream: Output) -> str:
        """The whole text of a stream, and a check that its head and tail are those of it."""
        assert isinstance(stream, Stream)
        if stream.blob is None:
            assert not stream.omitted
            return stream.head + stream.tail
        text = self.blobs[stream.blob.hash].decode()
        assert len(text) == stream.length
        assert text.startswith(stream.head)
        assert text.endswith(stream.tail)
        assert len(stream.head) + len(stream.tail) <= INLINE_TEXT
        return text


def message(type: str, *, buffers: Iterable[bytes] = (), **content: Any) -> KernelMessage:
    return KernelMessage(type=type, content=content, buffers=tuple(buffers))


def printed(text: Any, name: str = "stdout") -> KernelMessage:
    return message("stream", name=name, text=text)


def displayed(data: Any, id: str | None = None, type: str = "display_data", **content: Any) -> KernelMessage:
    transient = {"display_id": id} if id is not None else {}
    return message(type, data=data, metadata={}, transient=transient, **content)


def cleared(wait: bool = False) -> KernelMessage:
    return message("clear_output", wait=wait)


def show(messages: Iterable[KernelMessage], **options: Any) -> Running:
    """Take everything, and flush once at the end."""
    running = Running()
    showing = running.start(**options)
    for each in messages:
        showing.take(each)
    running.keep(showing.finish())
    return running


def recorded(name: str) -> list[KernelMessage]:
    """What a stock kernel sent for a cell."""
    messages: list[dict[str, Any]] = json.loads((RECORDINGS / f"{name}.json").read_text())["messages"]
    return [
        KernelMessage(
            type=each["type"],
            content=each["content"],
            metadata=each.get("metadata", {}),
            buffers=tuple(map(base64.b64decode, each.get("buffers", ()))),
        )
        for each in messages
    ]


# ---- As a stock kernel sends


def test_a_progress_bar_between_prints_is_one_line_in_its_place() -> None:
    bar, done, end = show(recorded("tqdm")).outputs()
    assert isinstance(bar, Stream) and bar.name == "stderr" and "5/5" in bar.head and "\r" not in bar.head
    assert done == Stream(name="stdout", head="done\n")
    assert end == Stream(name="stderr", head="\n")


def test_texts_of_one_stream_are_one_event() -> None:
    running = show(recorded("tqdm-nested"))
    (event,) = running.events
    assert isinstance(event, e.StreamAppended)
    assert (event.chunk, event.offset) == (0, 0)


def test_a_display_shows_what_it_was_last_updated_to_also_in_another_cell() -> None:
    running = Running()
    for name in ("display-update", "display-update-elsewhere"):
        showing = running.start()
        for each in recorded(name):
            showing.take(each)
        running.keep(showing.finish())
    (first,) = running.outputs(CellId("cell0"))
    assert isinstance(first, Display)
    assert first.data["text/html"] == "<i>later</i>"
    assert running.outputs() == []
    assert [codec.type_of(event) for event in running.events] == ["output_added", "display_updated", "display_updated"]


def test_outputs_are_cleared_at_once_or_when_the_next_one_comes() -> None:
    """The last clear_output waits for an output that never comes."""
    running = show(recorded("clear-output"))
    assert running.outputs() == [Stream(name="stdout", head="last\n")]
    assert len(running.events) == 1


def test_an_error_keeps_its_colours_and_is_the_fault_of_the_execution() -> None:
    running = Running()
    showing = running.start()
    for each in recorded("error"):
        showing.take(each)
    running.keep(showing.finish())
    before, raised = running.outputs()
    assert before == Stream(name="stdout", head="before\n")
    assert isinstance(raised, Raised)
    assert (raised.ename, raised.evalue) == ("ZeroDivisionError", "division by zero")
    assert "\x1b[31m" in raised.traceback[0]
    assert showing.fault is not None and showing.fault.traceback == raised.traceback
    assert showing.count == 9
    assert showing.is_idle


def test_the_value_of_a_cell_has_the_count_of_its_execution() -> None:
    out, err, value = show(recorded("result")).outputs()
    assert (out, err) == (Stream(name="stdout", head="out\n"), Stream(name="stderr", head="err\n"))
    assert value == Display(data={"text/plain": "[1, 2]"}, count=10)
    (table,) = show(recorded("html-table")).outputs()
    assert isinstance(table, Display) and set(table.data) == {"text/plain", "text/html"}


def test_bytes_that_are_no_text_arrive_as_the_kernel_tells_them() -> None:
    (stream,) = show(recorded("invalid-utf8")).outputs()
    assert stream == Stream(name="stdout", head="café \ufffd end\nafter \ufffd\n")


def test_widgets_are_kept_as_ipywidgets_saves_them() -> None:
    states = WidgetStates()
    messages = recorded("widget")
    for each in messages:
        states.take(each)
    saved = states.as_metadata()[WIDGET_STATE]
    assert (saved["version_major"], saved["version_minor"]) == (2, 0)
    by_name = {each["model_name"]: each for each in saved["state"].values()}
    assert by_name["IntProgressModel"]["state"]["value"] == 3
    assert by_name["IntProgressModel"]["model_module"] == "@jupyter-widgets/controls"
    assert by_name["ImageModel"]["buffers"] == [
        {"encoding": "base64", "path": ["value"], "data": base64.b64encode(b"\x89PNG\x00\x01").decode()}
    ]
    assert "TextModel" not in by_name, "it was closed"
    shown = next(each for each in messages if each.type == "display_data").content["data"]
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] in saved["state"]
    assert show(messages).outputs()


def test_what_a_widget_would_capture_stays_in_the_cell() -> None:
    _, stream = show(recorded("widget-output")).outputs()
    assert stream == Stream(name="stdout", head="inside\noutside\n")


def test_a_widget_that_gets_another_value_loses_the_bytes_of_the_old_one() -> None:
    states = WidgetStates()
    state = {"_model_name": "M", "a": 1}
    data = {"state": state, "buffer_paths": [["value"]]}
    states.take(message("comm_open", comm_id="w", target_name="jupyter.widget", data=data, buffers=[b"old"]))
    states.take(message("comm_msg", comm_id="w", data={"method": "update", "state": {"value": None}}))
    states.take(message("comm_msg", comm_id="w", data={"method": "custom", "content": {"a": 2}}))
    states.take(message("comm_open", comm_id="other", target_name="mine", data=data))
    saved = states.as_metadata()[WIDGET_STATE]["state"]
    assert list(saved) == ["w"]
    assert saved["w"]["state"] == state | {"value": None}
    assert "buffers" not in saved["w"]
    states.take(message("comm_close", comm_id="w"))
    assert states.as_metadata() == {}


# ---- Streams


@pytest.mark.parametrize("size", [INLINE_TEXT - 1, INLINE_TEXT, INLINE_TEXT + 1, 200_000])
@pytest.mark.parametrize("unit", ["x", "line é🦊\n"])
def test_a_long_text_is_head_and_tail_in_the_log_and_whole_in_a_blob(size: int, unit: str) -> None:
    """Rule 5."""
    text = (unit * size)[:size]
    running = show([printed(text)])
    (stream,) = running.outputs()
    assert isinstance(stream, Stream)
    assert running.whole(stream) == text
    assert (stream.blob is not None) == (size > INLINE_TEXT)
    if stream.blob is not None:
        assert (stream.head, stream.tail) == (text[:HALF], text[-HALF:])


def test_a_text_that_grows_is_sent_again_when_it_has_grown_by_half() -> None:
    running = Running()
    showing = running.start()
    line = "x" * 999 + "\n"
    size = 0
    for _ in range(3000):
        showing.take(printed(line))
        shown = showing.flush()
        size += sum(blob.ref.size for blob in shown.blobs.values())
        running.keep(shown)
    assert showing.behind == 3_000_000
    running.keep(showing.flush(everything=True))
    assert showing.behind == 0
    assert showing.flush().events == []
    (stream,) = running.outputs()
    assert running.whole(stream) == line * 3000
    assert size < 3 * 3_000_000
    assert sum(isinstance(event, e.StreamAppended) and event.blob is not None for event in running.events) < 15


def test_a_progress_bar_behind_a_long_text_still_moves() -> None:
    running = Running()
    showing = running.start()
    showing.take(printed("line\n" * 20_000))
    for percent in range(101):
        showing.take(printed(f"\r{percent}%"))
        running.keep(showing.flush(everything=percent % 20 == 0))
    running.keep(showing.finish())
    (stream,) = running.outputs()
    assert running.whole(stream) == "line\n" * 20_000 + "100%"


def test_a_long_text_that_becomes_short_again_loses_nothing() -> None:
    running = Running()
    showing = running.start()
    terminal, whole = Terminal(), ""
    for text in ("a\n" * 32_700, "b" * 200, "\r\x1b[2K", "c" * 10, "\x1b[90A\x1b[J", "d\n" * 20_000, "e"):
        offset, new = terminal.feed(text) or (len(whole), "")
        whole = whole[:offset] + new
        showing.take(printed(text))
        running.keep(showing.flush(everything=True))
        (stream,) = running.outputs()
        assert running.whole(stream) == whole


class Counted(io.BytesIO):
    """A spool that knows how much was written to it."""

    written = 0

    def write(self, data: Any, /) -> int:
        Counted.written += len(data)
        return super().write(data)


def test_forty_megabytes_are_written_once_and_not_held() -> None:
    Counted.written = 0
    showing = ExecutionDisplays(ExecutionId("x"), 1, Counted())
    piece = ("x" * 79 + "\n") * 12_500
    for _ in range(40):
        showing.take(printed(piece))
        assert showing.size <= len(piece)
        blobs = showing.flush().blobs
        assert len(blobs) <= 1
    assert 39_000_000 < Counted.written <= 40_000_000
    (blob,) = showing.finish().blobs.values()
    assert blob.ref.size == 40_000_000
    digest = sha256()
    for data in blob.pieces():
        assert len(data) <= 2_000_000
        digest.update(data)
    assert digest.hexdigest() == blob.ref.hash == sha256(piece.encode() * 40).hexdigest()


def test_blobs_of_an_earlier_flush_stay_readable_while_more_is_printed() -> None:
    showing = ExecutionDisplays(ExecutionId("x"), 1, io.BytesIO())
    flushed: list[EventBatch] = []
    for number in range(40):
        name = "stdout" if number % 7 else "stderr"
        showing.take(printed(f"{number}\n" * 9_000, name))
        if number % 11 == 10:
            showing.take(cleared())
        flushed.append(showing.flush())
    flushed.append(showing.finish())
    blobs = [blob for shown in flushed for blob in shown.blobs.values()]
    assert len(blobs) > 5
    for blob in blobs:
        assert sha256(b"".join(blob.pieces())).hexdigest() == blob.ref.hash


def test_what_was_cleared_before_it_was_seen_takes_no_room_in_the_spool() -> None:
    spool = io.BytesIO()
    showing = ExecutionDisplays(ExecutionId("x"), 1, spool)
    for _ in range(20):
        showing.take(cleared(wait=True))
        showing.take(printed("line\n" * 40_000))
    assert len(spool.getvalue()) <= 200_000
    shown = showing.finish()
    (blob,) = shown.blobs.values()
    assert b"".join(blob.pieces()) == b"line\n" * 40_000


def test_halves_of_a_character_in_two_messages_are_joined_and_lonely_ones_replaced() -> None:
    running = Running()
    showing = running.start()
    for text in ("a\ud83e", "\udd8a b\ud83e", " c", "\ud83e"):
        showing.take(printed(text))
        running.keep(showing.flush())
    running.keep(showing.finish())
    assert running.whole(running.outputs()[0]) == "a🦊 b\ufffd c\ufffd"


# ---- Displays


def test_large_media_become_blobs_and_small_ones_stay() -> None:
    """Rule 5."""
    long = "text\n" * 20_000
    table = {"rows": ["x" * 70_000]}
    data = {"image/png": PNG, "text/plain": long, "application/json": table, "text/html": "<b>", "image/gif": "R0lG"}
    running = show([displayed(data)])
    (display,) = running.outputs()
    assert isinstance(display, Display)
    assert display.data == {"text/plain": long[:INLINE_TEXT], "text/html": "<b>", "image/gif": "R0lG"}
    assert running.blobs[display.blobs["image/png"].hash] == base64.b64decode(PNG)
    assert running.blobs[display.blobs["text/plain"].hash].decode() == long
    assert json.loads(running.blobs[display.blobs["application/json"].hash]) == table


def test_json_that_a_log_does_not_take_stays_exact_in_a_blob() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    running = show([displayed({"application/json": {"n": 2**70}, "application/x+json": deep})])
    (display,) = running.outputs()
    assert isinstance(display, Display)
    assert display.data == {}
    assert json.loads(running.blobs[display.blobs["application/json"].hash]) == {"n": 2**70}
    assert json.loads(running.blobs[display.blobs["application/x+json"].hash]) == deep


def test_ten_thousand_updates_between_two_flushes_are_one_event() -> None:
    running = Running()
    showing = running.start()
    showing.take(displayed({"text/plain": "0"}, id="d"))
    for number in range(10_000):
        showing.take(displayed({"text/plain": str(number)}, id="d", type="update_display_data"))
    running.keep(showing.flush())
    assert len(running.events) == 2
    assert running.outputs() == [Display(data={"text/plain": "9999"}, display_id="d")]


def test_an_update_does_not_reach_a_display_that_came_after_it() -> None:
    update, add = "update_display_data", "display_data"
    running = show(
        displayed({"text/plain": str(n)}, "d", type=type) for n, type in enumerate([add, update, add, update])
    )
    assert [event.data["text/plain"] for event in running.events if isinstance(event, e.DisplayUpdated)] == ["1", "3"]
    running = show(displayed({"text/plain": str(n)}, "d", type=type) for n, type in enumerate([add, update, add]))
    assert [output.data["text/plain"] for output in running.outputs() if isinstance(output, Display)] == ["1", "2"]


def test_an_update_of_a_display_elsewhere_survives_a_clear() -> None:
    running = Running()
    showing = running.start()
    showing.take(displayed({"text/plain": "old"}, id="d"))
    running.keep(showing.finish())
    showing = running.start()
    for each in (displayed({"text/plain": "new"}, id="d", type="update_display_data"), printed("x"), cleared()):
        showing.take(each)
    running.keep(showing.finish())
    assert running.outputs(CellId("cell0")) == [Display(data={"text/plain": "new"}, display_id="d")]
    assert running.outputs() == []


def test_chunks_go_on_from_where_a_runtime_left_off() -> None:
    running = show([printed("a"), displayed({"text/plain": "b"})], first_chunk=7)
    chunks = [event.chunk for event in running.events if isinstance(event, e.StreamAppended | e.OutputAdded)]
    assert chunks == [7, 8]


# ---- Where it is flushed makes no difference

PRINTS = st.builds(
    printed,
    st.sampled_from(["a", "b\n", "\r", "\x1b[A", "🦊\b", "x" * 40_000, "y\n" * 25_000, "\x1b[31mz\x1b[0m", ""]),
    st.sampled_from(["stdout", "stdout", "stderr"]),
)
DISPLAYS = st.builds(
    displayed,
    st.sampled_from([{"text/plain": "d"}, {"image/png": PNG}, {}]),
    st.sampled_from([None, "one", "two"]),
    st.sampled_from(["display_data", "update_display_data", "execute_result"]),
)
OTHERS = st.builds(cleared, st.booleans()) | st.just(message("error", ename="E", evalue="v", traceback=["t"]))
MESSAGES = st.lists(PRINTS | PRINTS | DISPLAYS | OTHERS, max_size=12)


@pytest.mark.generated
@settings(max_examples=60)
@given(MESSAGES, st.data())
def test_where_it_is_flushed_makes_no_difference_to_what_is_shown(
    messages: list[KernelMessage], data: st.DataObject
) -> None:
    running = Running()
    showing = running.start()
    for each in messages:
        showing.take(each)
        match data.draw(st.integers(0, 3)):
            case 0:
                running.keep(showing.flush())
            case 1:
                running.keep(showing.flush(everything=True))
            case _:
                pass
    running.keep(showing.finish())
    at_once = show(messages)

    def plain(running: Running) -> list[Any]:
        return [
            (output.name, running.whole(output)) if isinstance(output, Stream) else output
            for output in running.outputs()
        ]

    assert plain(running) == plain(at_once)
    assert showing.flush().events == []


# ---- Whatever a kernel sends

ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("a\ud800\udc00\0\r\x1b[", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ad\ud800", max_size=2), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["name", "text", "data", "metadata", "transient", "wait", "ename", "evalue", "traceback", "execution_count"]
TYPES = ["stream", "display_data", "execute_result", "update_display_data", "clear_output", "error", "status"]


@pytest.mark.generated
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*TYPES, "execute_input", "comm_open", "comm_msg", "comm_close", "never heard of"]),
            st.dictionaries(st.sampled_from([*KEYS, "execution_state", "comm_id", "target_name"]), ODD, max_size=5)
            | st.fixed_dictionaries({"data": st.dictionaries(st.sampled_from(["text/plain", "image/png"]), ODD)}),
        ),
        max_size=4,
    )
)
def test_nothing_that_a_kernel_sends_raises_or_is_refused(sent: list[tuple[str, dict[str, Any]]]) -> None:
    messages = [KernelMessage(type=type, content=content) for type, content in sent]
    show(messages)
    states = WidgetStates()
    for each in messages:
        states.take(each)
    states.as_metadata()


def nested(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "sent",
    [
        displayed({"application/json": nested(900)}),
        displayed({"text/plain": nested(900)}),
        displayed({f"text/x{number}": "\0" * INLINE_TEXT for number in range(1000)}),
        displayed({"text/plain": ["a\n", "b"], "image/png": "not base64!", "application/json": None}),
        message(
            "display_data", data={"text/plain": "x"}, metadata={"big": "x" * 10**7, "n": 2**80, "deep": nested(300)}
        ),
        message("error", ename="E" * 10**6, evalue="v" * 10**7, traceback=["line\n" * 10**6] * 3),
        message("error", ename=None, evalue=3, traceback="not a list"),
        printed(["a", nested(900), "b", 3]),
        message("error", ename=nested(900), evalue=2**20_000, traceback=[nested(900), "x", 3]),
        displayed({"application/json": 2**20_000}),
        printed("\ud800" * 100_000),
        message("display_data", data={"application/scrapbook.scrap.json+json": nested(900)}, metadata={}),
        displayed({"a" * 10**6: "x"}, id="i" * 10**6),
    ],
    ids=lambda sent: sent.type,
)
def test_hostile_messages_become_what_they_can(sent: KernelMessage) -> None:
    assert show([sent]).outputs()


# ---- Results


def test_results_among_the_displays_are_recorded_and_stay_displays() -> None:
    running = show(recorded("results"))
    assert len(running.outputs()) == 2
    score, plot = running.notebook.results["score"], running.notebook.results["plot"]
    assert (score.kind, score.value, score.cell) == ("json", 0.94, CellId("cell0"))
    assert (plot.kind, plot.value) == ("display", {"text/plain": "<plot>"})


def scrap(name: Any, data: Any, kind: str = "json") -> KernelMessage:
    payload = {"name": name, "data": data, "encoder": kind, "version": 1}
    metadata = {"scrapbook": {"name": name, "data": True, "display": False}}
    return message("display_data", data={f"application/scrapbook.scrap.{kind}+json": payload}, metadata=metadata)


def test_a_picture_of_a_result_does_not_take_the_place_of_its_value() -> None:
    metadata = {"scrapbook": {"name": "n", "data": False, "display": True}}
    picture = message("display_data", data={"text/plain": "5"}, metadata=metadata)
    assert show([scrap("n", 5), picture]).notebook.results["n"].value == 5


def test_a_large_picture_that_is_a_result_is_kept_once() -> None:
    metadata = {"scrapbook": {"name": "plot", "data": False, "display": True}}
    running = show([message("display_data", data={"text/plain": "<plot>", "image/png": PNG}, metadata=metadata)])
    assert len(running.blobs) == 1
    plot = running.notebook.results["plot"]
    assert plot.blob is not None and plot.blob.media == "image/png"


def test_our_own_results_are_exact_and_go_before_scrapbooks() -> None:
    ours = "application/vnd.quire.result+json"
    exact = {"name": "n", "kind": "json", "value": {"$tuple": [1, {"$float": "nan"}]}}
    bundle = {ours: exact, "application/scrapbook.scrap.json+json": {"name": "n", "data": [1, None]}}
    frame = {ours: {"name": "f", "kind": "frame", "media": "application/vnd.apache.parquet", "data": PNG}}
    broken = {ours: {"name": "b", "value": {"$int": "x"}}}
    running = show([displayed(bundle), displayed(frame), displayed(broken), displayed({ours: "none"})])
    assert running.notebook.results["n"].value == {"$tuple": [1, {"$float": "nan"}]}
    assert untag(running.notebook.results["b"].value) == {"$int": "x"}
    frame_blob = running.notebook.results["f"].blob
    assert frame_blob is not None and running.blobs[frame_blob.hash] == base64.b64decode(PNG)
    assert set(running.notebook.results) == {"n", "b", "f"}


@pytest.mark.parametrize(
    "value", [2**60, {"$int": "not ours"}, [None, True, "é"], {"a": {"$b": 1}}, "text"], ids=lambda value: repr(value)
)
def test_a_value_stays_exact(value: Any) -> None:
    assert untag(show([scrap("n", value)]).notebook.results["n"].value) == value


def test_a_large_result_is_a_blob_and_a_frame_is_bytes() -> None:
    running = show([scrap("big", ["x" * 70_000]), scrap("frame", PNG, "pandas")])
    big, frame = running.notebook.results["big"], running.notebook.results["frame"]
    assert big.value is None and big.blob is not None
    assert json.loads(running.blobs[big.blob.hash]) == ["x" * 70_000]
    assert frame.blob is not None and running.blobs[frame.blob.hash] == base64.b64decode(PNG)


def test_records_of_papermill_are_results() -> None:
    running = show([displayed({"application/papermill.record+json": {"a": 1, "b": "two"}})])
    assert {name: result.value for name, result in running.notebook.results.items()} == {"a": 1, "b": "two"}


def test_a_result_whose_name_cannot_be_kept_is_noted_and_shown() -> None:
    running = Running()
    showing = running.start()
    showing.take(scrap("  ", 1))
    showing.take(scrap(None, 1))
    running.keep(showing.finish())
    assert len(running.outputs()) == 2
    assert running.notebook.results == {}
    (note,) = showing.notes
    assert "name" in note


# ---- Secrets

SECRET = "ghp_0123456789abcdef"


def kept(running: Running) -> str:
    """Everything that a runtime keeps."""
    events = (codec.encode(event) for event in running.events)
    return "\n".join((*events, *(data.decode("latin-1") for data in running.blobs.values())))


@pytest.mark.parametrize("cut", [1, 5, len(SECRET) - 1])
def test_a_secret_printed_in_pieces_is_nowhere(cut: int) -> None:
    """Rule 16."""
    running = Running()
    showing = running.start(remover=Remover({"TOKEN": SECRET}))
    for each in (
        printed(f"token {SECRET[:cut]}"),
        displayed(
            {"text/html": f"<b>{SECRET}</b>", "image/png": base64.b64encode(f"x{SECRET}".encode() * 99).decode()}
        ),
        printed(f"{SECRET[cut:]} and {SECRET[:cut]}"),
        printed(SECRET, "stderr"),
        scrap("token", {"key": SECRET}),
        message("error", ename="E", evalue=SECRET, traceback=[f"\x1b[31m{SECRET}\x1b[0m"]),
    ):
        showing.take(each)
        running.keep(showing.flush(everything=True))
    running.keep(showing.finish())
    assert SECRET not in kept(running)
    assert running.whole(running.outputs()[0]) == "token "
    assert running.whole(running.outputs()[2]) == "[secret TOKEN] and "
    assert running.whole(running.outputs()[-1]) == SECRET[:cut]
    assert running.notebook.results["token"].value == {"key": "[secret TOKEN]"}
    assert showing.fault is not None and SECRET not in showing.fault.evalue


def test_a_secret_in_base64_that_comes_in_lines_is_removed() -> None:
    lines = base64.encodebytes(b"x" * 50 + SECRET.encode() + b"x" * 2000).decode()
    running = show([displayed({"application/zip": lines})], remover=Remover({"TOKEN": SECRET}))
    assert SECRET not in kept(running)
    (blob,) = running.blobs.values()
    assert blob == b"x" * 50 + b"*" * len(SECRET) + b"x" * 2000, "the rest of the bytes can still be read"
    (display,) = show([displayed({"image/png": "iVBO\nRw0K\n"})], remover=Remover({"TOKEN": SECRET})).outputs()
    assert isinstance(display, Display) and display.data["image/png"] == "iVBO\nRw0K\n"


def test_a_secret_is_removed_before_an_error_is_cut() -> None:
    long = "x" * (INLINE_TEXT // 8 - 5) + SECRET + "x" * INLINE_TEXT
    wide = "x" * (HALF - 5) + SECRET + "x" * INLINE_TEXT
    sent = message("error", ename="E", evalue=long, traceback=[wide])
    assert SECRET[:4] not in kept(show([sent], remover=Remover({"TOKEN": SECRET})))


def test_what_was_held_back_is_cleared_with_the_rest() -> None:
    sent = [printed("g"), cleared(), printed("hp")]
    assert show(sent, remover=Remover({"TOKEN": SECRET})).outputs() == [Stream(name="stdout", head="hp")]


def test_a_secret_in_a_widget_is_not_kept() -> None:
    states = WidgetStates(Remover({"TOKEN": SECRET}))
    data = {"state": {"_model_name": "TextModel", "value": SECRET}}
    states.take(message("comm_open", comm_id="w", target_name="jupyter.widget", data=data))
    assert states.as_metadata()[WIDGET_STATE]["state"]["w"]["state"]["value"] == "[secret TOKEN]"


def test_displays_of_one_execution_stay_inline_up_to_a_total() -> None:
    """Tables that are small, each, and together larger than whoever reads the notebook should hold."""
    table = "<td>" + "x" * (INLINE_TEXT - 10)
    many = MOST_INLINE // len(table) + 2
    running = show(displayed({"text/html": table, "text/plain": "a table"}) for _ in range(many))
    first, *_, last = running.outputs()
    assert isinstance(first, Display) and isinstance(last, Display)
    assert first.data["text/html"] == table
    assert last.data == {"text/html": table[:SHORT_TEXT], "text/plain": "a table"}
    assert running.blobs[last.blobs["text/html"].hash].decode() == table
    # What was cleared does not count.
    again = show([*(displayed({"text/html": table}) for _ in range(many)), cleared(), displayed({"text/html": table})])
    assert again.outputs() == [Display(data={"text/html": table})]
