"""A process in a control group, whose kernel takes more memory than the group has: `… GROUP`. Prints how it ended."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.kernels import kernel_protocol

from .real_kernels import ENV, script


async def main() -> None:
    spec = script("taken = []\nwhile True: taken.append(bytes(1_000_000))")
    kernel = await kernel_protocol.start(spec, cwd=Path("/"), env=ENV)
    ended = await kernel.ended()
    sys.stdout.write(f"the kernel {ended.why}")
    await kernel.close()


Path(sys.argv[1], "cgroup.procs").write_text("0")
asyncio.run(main())
