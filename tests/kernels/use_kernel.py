"""A process that uses a kernel and waits to be killed: `python -m tests.kernels.use_kernel GRACE_SECONDS [CODE]`.

Prints the kernel's id and the number of its process once that has run CODE.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.kernels import kernel_protocol
from quire.kernels.kernel_client import KernelClient

from .real_kernels import ENV, PATIENCE, python, said, script


async def main(grace_seconds: float, code: str | None) -> None:
    spec = script("import time; time.sleep(600)") if code is None else python()
    kernel = await kernel_protocol.start(spec, cwd=Path("/"), env=ENV, grace_seconds=grace_seconds)
    if code is not None:
        client = KernelClient(kernel)
        await client.ready(PATIENCE)
        await said(client, code)
    sys.stdout.write(f"{kernel.id} {kernel.pid}\n")
    sys.stdout.flush()
    await kernel.ended()


asyncio.run(main(float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
