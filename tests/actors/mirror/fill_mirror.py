"""Run where FOLDER/small is a small disk: a file that no longer fits, and what becomes of it when there is room again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from .mirror_desk import Desk


async def main(folder: Path) -> None:
    desk = Desk(folder, "small/sales.py")
    await desk.write("a = 1", "b = 2")
    await desk.start()
    await desk.agree("a = 1", "b = 2")
    filling = folder / "small" / "something else"
    filling.write_bytes(b"x" * 150_000)
    before, long = desk.file.read_bytes(), f"a = '{'x' * 100_000}'"
    await desk.edit(0, long)
    await desk.hear("the disk is full. Make room")
    assert desk.file.read_bytes() == before, "the old one is whole"
    assert sorted(each.name for each in desk.file.parent.iterdir()) == ["sales.py", "something else"]
    filling.unlink()
    await desk.agree(long, "b = 2")
    assert (await desk.notebook()).conflicts == {}
    await desk.close()
    sys.stdout.write("went on\n")


asyncio.run(main(Path(sys.argv[1])))
