"""Our side of ZeroMQ's protocol, against the real one."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import zmq

from quire.kernels.transport.zmtp import GREETING, Link, framed

PATIENCE = 60
SIZES = [0, 1, 254, 255, 256, 257, 65_535, 300_000, 5_000_000, 20_000_000]


class Heard:
    """What a link hears, in order."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[list[bytes]] = asyncio.Queue()
        self.hung_up = asyncio.Event()

    def __call__(self, frames: list[bytes]) -> None:
        self._messages.put_nowait(frames)

    async def next(self) -> list[bytes]:
        async with asyncio.timeout(PATIENCE):
            return await self._messages.get()

    @property
    def waiting(self) -> int:
        return self._messages.qsize()


class Peer:
    """A socket of the real ZeroMQ, used in a thread beside the loop."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], kind: int, endpoint: str) -> None:
        self._socket = context.socket(kind)
        self._socket.setsockopt(zmq.RCVTIMEO, PATIENCE * 1000)
        if kind == zmq.XPUB:
            self._socket.setsockopt(zmq.XPUB_NODROP, 1)
            self._socket.setsockopt(zmq.SNDHWM, 10)
        self._socket.bind(endpoint)
        where = self._socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(where, bytes)
        self.endpoint = where.decode().rstrip("\0")

    async def receive(self) -> list[bytes]:
        return await asyncio.to_thread(self._socket.recv_multipart)

    async def send(self, *frames: bytes) -> None:
        await asyncio.to_thread(self._socket.send_multipart, frames)

    def send_now(self, frame: bytes) -> None:
        self._socket.send(frame, zmq.NOBLOCK)

    def close(self) -> None:
        self._socket.close(linger=0)


OpenPeer = Callable[..., Peer]


@pytest.fixture
def peer() -> Iterator[OpenPeer]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    peers: list[Peer] = []

    def opened(kind: int, endpoint: str = "tcp://127.0.0.1:0") -> Peer:
        peers.append(Peer(context, kind, endpoint))
        return peers[-1]

    yield opened
    for each in peers:
        each.close()
    context.term()


@pytest.fixture
async def links() -> AsyncIterator[list[Link]]:
    made: list[Link] = []
    yield made
    for link in made:
        link.close()


@pytest.mark.parametrize("transport", ["tcp", "ipc"])
async def test_messages_of_any_size_go_both_ways(
    peer: OpenPeer, links: list[Link], tmp_path: Path, transport: str
) -> None:
    endpoint = "tcp://127.0.0.1:0" if transport == "tcp" else f"ipc://{tmp_path}/s"
    router = peer(zmq.ROUTER, endpoint)
    heard = Heard()
    links.append(Link(router.endpoint, b"DEALER", b"me", heard))
    for size in SIZES:
        frames = [b"<IDS|MSG>", b"", os.urandom(size), b"x" * size, b"end"]
        links[0].send(frames)
        assert await router.receive() == [b"me", *frames]
        await router.send(b"me", *frames)
        assert await heard.next() == frames


async def test_what_is_sent_before_anybody_listens_arrives(peer: OpenPeer, links: list[Link], tmp_path: Path) -> None:
    links.append(Link(f"ipc://{tmp_path}/later", b"DEALER", b"me", Heard()))
    for number in range(3):
        links[0].send([str(number).encode()])
    router = peer(zmq.ROUTER, f"ipc://{tmp_path}/later")
    assert [await router.receive() for _ in range(3)] == [[b"me", b"0"], [b"me", b"1"], [b"me", b"2"]]


async def test_a_subscriber_hears_everything_and_learns_of_the_end(peer: OpenPeer, links: list[Link]) -> None:
    publisher = peer(zmq.XPUB)
    heard = Heard()
    links.append(Link(publisher.endpoint, b"SUB", b"", heard, heard.hung_up.set))
    assert await publisher.receive() == [b"\x01"]
    for number in range(1000):
        await publisher.send(b"topic", str(number).encode())
    assert [int((await heard.next())[1]) for _ in range(1000)] == list(range(1000))
    assert not heard.hung_up.is_set()
    publisher.close()
    async with asyncio.timeout(PATIENCE):
        await heard.hung_up.wait()


async def test_whoever_sends_waits_while_nothing_is_read(peer: OpenPeer, links: list[Link]) -> None:
    publisher = peer(zmq.XPUB)
    heard = Heard()
    links.append(Link(publisher.endpoint, b"SUB", b"", heard))
    await publisher.receive()
    links[0].hold()
    sent = 0
    with pytest.raises(zmq.Again):
        for sent in range(1000):  # noqa: B007 - looked at below
            publisher.send_now(b"x" * 1_000_000)
    links[0].go_on()
    for _ in range(sent):
        assert len((await heard.next())[0]) == 1_000_000


async def test_a_peer_that_comes_back_is_greeted_again(peer: OpenPeer, links: list[Link], tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/again"
    first = peer(zmq.ROUTER, endpoint)
    heard = Heard()
    links.append(Link(endpoint, b"DEALER", b"me", heard, heard.hung_up.set))
    links[0].send([b"1"])
    assert await first.receive() == [b"me", b"1"]
    first.close()
    async with asyncio.timeout(PATIENCE):
        await heard.hung_up.wait()
    second = peer(zmq.ROUTER, endpoint)
    links[0].send([b"2"])
    assert await second.receive() == [b"me", b"2"]


# ---- Peers that are none


def listening() -> tuple[socket.socket, str]:
    made = socket.create_server(("127.0.0.1", 0))
    made.setblocking(False)
    host, port = made.getsockname()
    return made, f"tcp://{host}:{port}"


async def test_octet_by_octet_it_is_the_same(links: list[Link]) -> None:
    loop, (server, where) = asyncio.get_running_loop(), listening()
    heard = Heard()
    links.append(Link(where, b"DEALER", b"me", heard))
    with server, (await loop.sock_accept(server))[0] as peer:
        ping = b"\x04PING\x00\x00hello"
        ready = b"\x05READY"
        told = GREETING + b"\x04" + bytes((len(ready),)) + ready + framed([b"a", b"b" * 300])
        for octet in told + b"\x04" + bytes((len(ping),)) + ping + framed([b"end"]):
            await loop.sock_sendall(peer, bytes((octet,)))
        assert await heard.next() == [b"a", b"b" * 300]
        assert await heard.next() == [b"end"]
        answer = b""
        async with asyncio.timeout(PATIENCE):
            while b"\x04PONGhello" not in answer:
                answer += await loop.sock_recv(peer, 1000)
        assert answer.startswith(GREETING)


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 5, b"\xff" + bytes(8) + b"\x7f\x01" + bytes(60)]
)
async def test_who_speaks_something_else_is_left_alone(links: list[Link], said: bytes) -> None:
    loop, (server, where) = asyncio.get_running_loop(), listening()
    heard = Heard()
    links.append(Link(where, b"DEALER", b"me", heard))
    with server, (await loop.sock_accept(server))[0] as peer:
        await loop.sock_sendall(peer, said)
        async with asyncio.timeout(PATIENCE):
            while await loop.sock_recv(peer, 1000):
                pass
    assert heard.waiting == 0
