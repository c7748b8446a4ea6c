"""Kernels for the tests: real ones, started as a run starts them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from quire.kernels import kernel_protocol
from quire.kernels.environments import find
from quire.kernels.kernel_client import KernelClient
from quire.kernels.kernel_protocol import Kernel, Spec
from quire.outputs.display_events import KernelMessage

HERE = Path(__file__).parent
# ipykernel leaves low-level output alone when it sees that variable: it takes itself for a part of pytest.
ENV = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
PATIENCE = 60
"""Seconds after which something does not come any more."""


def python() -> Spec:
    """The kernel of a Python notebook, in the interpreter of the tests."""
    return find("python", None, cwd=Path("/"), environ={"VIRTUAL_ENV": sys.prefix})


def script(code: str, *, is_ours: bool = False) -> Spec:
    """A process that is no kernel but starts, prints and ends like one."""
    return Spec(argv=(sys.executable, "-c", code, "{connection_file}"), language="none", name="script", is_ours=is_ours)


@asynccontextmanager
async def started(spec: Spec | None = None, *, relayed: bool = False) -> AsyncGenerator[tuple[Kernel, KernelClient]]:
    """A kernel that answers, and its client; gone afterwards."""
    kernel = await kernel_protocol.start(spec or python(), cwd=Path("/"), env=ENV, relayed=relayed)
    client = KernelClient(kernel)
    try:
        await client.ready(PATIENCE)
        yield kernel, client
    finally:
        client.close()
        await kernel.close()


async def said(client: KernelClient, code: str, *, allow_stdin: bool = False) -> list[KernelMessage]:
    """All that the kernel says when it runs `code`; the reply is the last."""
    async with asyncio.timeout(PATIENCE):
        return [message async for message in client.execute(code, allow_stdin=allow_stdin)]


def text(messages: list[KernelMessage], name: str = "stdout") -> str:
    """What was printed."""
    return "".join(each.content["text"] for each in messages if each.type == "stream" and each.content["name"] == name)


async def until(happens: Callable[[], bool]) -> None:
    """Wait for what nobody tells: that a process or a file is gone."""
    async with asyncio.timeout(PATIENCE):
        while not happens():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)
