"""Break a workspace at random for so many seconds: `python -m tests.chaos sqlite|postgres FOLDER ELSEWHERE SEED SECONDS`."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ..journeys.owner import check_chains
from .load import Load
from .site import LONGEST_SECONDS, Database, Hurt, Site, SmallDisk


class Chaos:
    """Two hands that break things at the same time: one processes, the other what they stand on."""

    def __init__(self, site: Site, seed: str) -> None:
        self._site = site
        self._draws = [random.Random(f"{seed} {hand}") for hand in range(2)]
        self.over = threading.Event()
        self.faults: list[BaseException] = []
        self.did = 0
        self._threads = [threading.Thread(target=self._work, args=(each,)) for each in (self._processes, self._ground)]
        for each in self._threads:
            each.start()

    def end(self) -> None:
        """Break nothing more; what was broken is whole again."""
        self.over.set()
        for each in self._threads:
            each.join()
        for fault in self.faults:
            raise fault

    def _work(self, hand: Callable[[], None]) -> None:
        try:
            while not self.over.is_set():
                hand()
                self.did += 1
        except BaseException as fault:
            self.faults.append(fault)
            self.over.set()

    def _processes(self) -> None:
        draw = self._draws[0]
        self.over.wait(draw.uniform(0.5, 5))
        match draw.randrange(3):
            case 0:
                tell(self._site.kill_server(draw))
            case 1:
                tell(self._site.kill_runtime(draw))
            case _:
                tell(self._site.stop_one(draw, self.over))

    def _ground(self) -> None:
        draw, site = self._draws[1], self._site
        self.over.wait(draw.uniform(1, 8))
        cut = Hurt("the line is cut", site.line.cut, lambda: site.line.mend(site.servers[0].port))
        what, begin, end = draw.choice([cut, site.store.jump(draw), *site.store.hurts()])
        tell(what)
        begin()
        try:
            self.over.wait(draw.uniform(0.5, LONGEST_SECONDS))
        finally:
            end()
        tell(f"{what}: over")


def tell(what: str) -> None:
    """Say what happens, with the time: the logs of processes have it, too."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')}  {what}\n")
    sys.stdout.flush()


def main(kind: str, folder: Path, elsewhere: Path, seed: str, seconds: float) -> None:
    """`elsewhere` is on another disk: the folder of a runtime that somebody brought."""
    clock = elsewhere.with_name(f"{elsewhere.name}-clock")
    store = SmallDisk(folder, clock) if kind == "sqlite" else Database(folder / "blobs")
    site = Site(folder, elsewhere, store, servers=1 if kind == "sqlite" else 2)
    try:
        load = Load(site, site.token("ada", "human", "read,edit,run"))
        load.begin()
        chaos = Chaos(site, seed)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not chaos.over.wait(1) and not load.faults:
            site.check_servers(chaos.over)
        chaos.end()
        load.end()
        load.check()
        site.check_servers(threading.Event())
        site.check_runtimes()
        left = site.close()
        assert not left, f"processes are left: {left}"
        if kind == "sqlite":
            check_chains(folder)
        else:
            site.folders[0].quire("verify")
        tell(
            f"{chaos.did} faults, {len(load.acknowledged)} acknowledged events, {load.ran} cells, {load.refused} refusals"
        )
    finally:
        site.kill()
        store.close()


main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], float(sys.argv[5]))
