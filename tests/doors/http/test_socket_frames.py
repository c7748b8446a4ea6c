"""What is not a frame, or too much of one: told clearly, and never the end of the connection but where it is too large."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.ids import LogId
from quire.doors.http.server_settings import ServerSettings
from quire.doors.http.socket.connection_loop import name_in, read_frame
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import LOG, OTHER, Client, connected, note, notebook, token


@pytest.fixture
async def workspace() -> LocalWorkspace:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs())
    await notebook(workspace)
    await notebook(workspace, OTHER)
    return workspace


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace, ServerSettings(frame_bytes=100_000, follows_per_socket=20)) as server:
        yield server


@pytest.fixture
async def client(workspace: LocalWorkspace, server: Server) -> AsyncIterator[Client]:
    async with connected(server, await token(workspace)) as client:
        yield client


async def goes_on(client: Client) -> None:
    """Whatever was sent before, the connection is as good as ever."""
    await client.in_order()


GARBAGE = [
    "",
    "x",
    "null",
    "[]",
    "{}",
    '{"type":"follow"',
    '{"type":7}',
    '{"type":"events","entries":[]}',
    '{"type":"say","log":"n1","lane":"presence"}',
    "[" * 50_000,
    '{"type":"\ud7ff"}',
    b"",
    b"\x00\xff",
    b'{"type":"stop","id":"x"}',
]


async def test_what_is_no_frame_is_told_without_an_id(client: Client, subtests: pytest.Subtests) -> None:
    for garbage in GARBAGE:
        with subtests.test(garbage=garbage[:50]):
            await client.send(garbage)
            failed = await client.expect(frames.FailedFrame)
            assert failed.id is None
            assert failed.error.kind == "BadInput"
            assert "docs/reference/socket.md" in failed.error.message
            await goes_on(client)


SENSELESS: list[dict[str, Any]] = [
    {"type": "nothing", "id": "x"},
    {"type": "follow", "id": "x"},
    {"type": "follow", "id": "x", "log": 7},
    {"type": "follow", "id": "x", "log": "n1", "since": -1},
    {"type": "follow", "id": "x", "log": "n1", "since": 1.5},
    {"type": "follow", "id": "x", "log": "n1", "since": 2**70},
    {"type": "follow", "id": "x", "log": "n1", "more": 1},
    {"type": "follow", "id": "x", "log": "../etc"},
    {"type": "follow", "id": "x", "log": ""},
    {"type": "feed", "id": "x", "since": "now"},
    {"type": "feed", "id": "x", "since": -1},
    {"type": "listen", "id": "x", "log": "n1", "lane": "../presence"},
    {"type": "listen", "id": "x", "log": "n1", "lane": "x" * 100},
    {"type": "submit", "id": "x", "log": "n1", "drafts": {}},
    {"type": "submit", "id": "x", "log": "../n1", "drafts": []},
    {
        "type": "submit",
        "id": "x",
        "log": "n1",
        "drafts": [{"id": "d", "event": {"type": "metadata_set", "values": {"x": 2**60}}}],
    },
]


async def test_a_frame_that_makes_no_sense_is_told_with_its_id(client: Client, subtests: pytest.Subtests) -> None:
    for frame in SENSELESS:
        with subtests.test(frame=frame):
            await client.send(frame)
            failed = await client.expect(frames.FailedFrame)
            assert (failed.id, failed.error.kind) == ("x", "BadInput")
            await goes_on(client)


async def test_the_id_of_something_that_goes_on_is_not_taken_again(workspace: LocalWorkspace, client: Client) -> None:
    """Told without an id: what has that name goes on."""
    await client.follow(id="f")
    for frame in (
        frames.Follow(id="f", log=OTHER),
        frames.FollowFeed(id="f"),
        frames.Listen(id="f", log=LOG, lane="presence"),
        frames.Submit(id="f", log=LOG, drafts=[]),
    ):
        await client.send(frame)
        failed = await client.expect(frames.FailedFrame)
        assert failed.id is None
        assert "'f'" in failed.error.message
    await note(workspace, 1)
    await client.until(2)


async def test_ids_have_a_length(client: Client) -> None:
    for id in ("", "x" * 101):
        await client.send({"type": "follow", "id": id, "log": "n1"})
        assert (await client.expect(frames.FailedFrame)).id is None
    await client.follow(id="x" * 100)


async def test_stopping_what_does_not_go_on_does_nothing(client: Client) -> None:
    await client.send(frames.Stop(id="never"))
    await goes_on(client)


async def test_a_frame_that_is_too_large_closes_the_socket(workspace: LocalWorkspace, server: Server) -> None:
    secret = await token(workspace)
    async with connected(server, secret) as client:
        await client.send(f'{{"type":"stop","id":"{"x" * 100_000}"}}')
        assert (await client.closed())[0] == 1009
    async with connected(server, secret) as client:
        await client.connection.send(["x" * 60_000, "x" * 60_000])  # in two parts
        assert (await client.closed())[0] == 1009
    async with connected(server, secret) as client:
        await client.follow()


async def test_compressed_frames_are_not_agreed_to(client: Client) -> None:
    """Nothing is ever unpacked, so nothing explodes."""
    response = client.connection.response
    assert response is not None
    assert "Sec-WebSocket-Extensions" not in response.headers


async def test_a_socket_follows_so_many_things_and_no_more(workspace: LocalWorkspace, client: Client) -> None:
    for number in range(1000):
        await client.send(frames.Follow(id=f"{number}", log=LogId(f"log{number}")))
    answers: dict[str, frames.FromServer] = {}
    while len(answers) < 1000:
        frame = await _answer(client)
        answers[str(frame.id)] = frame
    assert [id for id, frame in answers.items() if isinstance(frame, frames.Events)] == [f"{n}" for n in range(20)]
    refused = [frame for frame in answers.values() if isinstance(frame, frames.FailedFrame)]
    assert len(refused) == 980
    assert {frame.error.kind for frame in refused} == {"Refused"}
    assert len(workspace.watched_logs) == 20
    await client.send(frames.Stop(id="3"))
    await client.follow(LOG, id="now there is room")


async def _answer(client: Client) -> frames.Events | frames.FailedFrame:
    for number in range(1000):
        client.sizes.setdefault(f"{number}", [])
        client.seen.setdefault(f"{number}", [])
        client.last.setdefault(f"{number}", 0)
    frame = await client.next()
    assert isinstance(frame, frames.Events | frames.FailedFrame)
    return frame


# ---- Generated


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("xy/\n"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "log", "since", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
TAGS = [str(each.__struct_config__.tag) for each in get_args(frames.ToServer)]


def _text(tag: str, fields: dict[str, Any]) -> str:
    return json.dumps({**fields, "type": tag})


@pytest.mark.generated
@given(
    st.text()
    | st.builds(
        _text,
        st.sampled_from([*TAGS, "events"]),
        st.dictionaries(st.sampled_from(["id", "log", "since", "lane", "message", "drafts"]), JSON),
    )
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_whatever_comes_is_a_frame_or_bad_input(text: str) -> None:
    try:
        frame = read_frame(text)
    except BadInput as error:
        assert len(str(error)) < 1000
        name_in(text)
    else:
        assert isinstance(frame, get_args(frames.ToServer))


def test_every_frame_is_in_the_reference_with_its_fields() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "socket.md").read_text()
    for kind in (*get_args(frames.ToServer), *get_args(frames.FromServer)):
        _, heading, rest = page.partition(f"\n### {kind.__struct_config__.tag}\n")
        assert heading, f"docs/reference/socket.md has no section {kind.__struct_config__.tag!r}"
        section = rest.partition("\n### ")[0]
        for field in kind.__struct_fields__:
            assert f"`{field}`" in section, f"{kind.__struct_config__.tag}: {field}"
    for code in (frames.CLOSE_GOING_AWAY, frames.CLOSE_SIGNED_OUT, frames.CLOSE_SLOW, 1009):
        assert f"| {code} |" in page
    for field in frames.EntryOnWire.__struct_fields__:
        assert f"`{field}`" in page
