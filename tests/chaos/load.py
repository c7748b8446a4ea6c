"""People at work while everything breaks: they write and run, and note what they were told was done."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import httpx

from quire.workspace.clock import new_id

from ..journeys.server import PLAIN, printed
from .site import Site

COUNT = "import time\nfor i in range(150):\n    print(i)\n    time.sleep(0.01)"
NUMBERS = "".join(f"{number}\n" for number in range(150))
RUNS = "count"
STUCK_SECONDS = 150.0
"""Far more than any lease, and than any fault lasts: what has not ended then never will."""
PAUSE_SECONDS = 0.1


class Load:
    """Writers and runners over all servers of a site."""

    def __init__(self, site: Site, secret: str) -> None:
        self._site, self._over = site, threading.Event()
        self._headers = {"Authorization": f"Bearer {secret}"}
        self._turns = itertools.count()
        self.acknowledged: dict[str, tuple[str, int]] = {}
        """The log and the number of each event that was acknowledged, by its id."""
        self.ran = 0
        self.refused = 0
        self.faults: list[BaseException] = []
        self.written = self._notebook("written", [])
        self.runs = {
            self._notebook("here", [{"source": COUNT, "name": RUNS}]): None,
            self._notebook("there", [{"source": COUNT, "name": RUNS}]): "gpu",
        }
        self._threads = [threading.Thread(target=self._guarded, args=(self._write,)) for _ in range(2)]
        self._threads += [threading.Thread(target=self._guarded, args=(self._run, log)) for log in self.runs]

    def begin(self) -> None:
        for each in self._threads:
            each.start()

    def end(self) -> None:
        """Ask for nothing more, and wait until what was asked for is done."""
        self._over.set()
        for each in self._threads:
            each.join()

    # ---- What they do

    def _guarded(self, work: Any, *given: Any) -> None:
        try:
            work(*given)
        except BaseException as fault:  # told by whoever started the thread
            self.faults.append(fault)

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        """Ask one server after the other until one answers; None when this one is away, or says that it cannot."""
        server = self._site.servers[next(self._turns) % len(self._site.servers)]
        try:
            answer = httpx.request(
                method, f"{server.url}{path}", headers=self._headers, timeout=30, verify=PLAIN, **more
            )
        except httpx.HTTPError:
            answer = None
        if answer is None or answer.status_code in (502, 503, 504):
            self.refused += 1
            time.sleep(PAUSE_SECONDS)
            return None
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer.json()

    def _until(self, method: str, path: str, **more: Any) -> Any:
        ends = time.monotonic() + STUCK_SECONDS
        while (answer := self._ask(method, path, **more)) is None:
            assert time.monotonic() < ends, f"{method} {path} is not answered for {STUCK_SECONDS:.0f} s"
        return answer

    def _notebook(self, name: str, cells: list[dict[str, str]]) -> str:
        return self._until("POST", "/api/notebooks", json={"name": name, "cells": cells})["log"]

    def _write(self) -> None:
        """Write, and send each again until somebody says that it is recorded."""
        while not self._over.is_set():
            id = new_id()
            event = {"type": "comment_added", "comment": id, "text": id}
            wanted = {"drafts": [{"id": id, "event": event}]}
            entries = self._until("POST", f"/api/logs/{self.written}/events", json=wanted)["entries"]
            self.acknowledged[id] = (self.written, entries[0]["seq"])
            time.sleep(0.01)

    def _run(self, log: str) -> None:
        runtime = self.runs[log]
        wanted = {"cells": [{"cell": RUNS}]} | ({"runtime": runtime} if runtime is not None else {})
        while not self._over.is_set():
            # Asked once: an answer that is lost may have been a yes, and what ran then is looked at in the end.
            asked = self._ask("POST", f"/api/notebooks/{log}/executions", json=wanted)
            if asked is None:
                continue
            self._ended(log, asked["executions"][0])
            self.ran += 1

    def _ended(self, log: str, execution: str) -> None:
        ends = time.monotonic() + STUCK_SECONDS
        while True:
            found = self._until("GET", f"/api/notebooks/{log}/executions/{execution}")["execution"]
            if found.get("finished_at"):
                return check_whole(found)
            assert time.monotonic() < ends, f"{execution} is still {found['state']} after {STUCK_SECONDS:.0f} s"
            time.sleep(PAUSE_SECONDS)

    # ---- What is left

    def check(self) -> None:
        """Everything acknowledged is there once, where it was said to be; everything that ran, ran whole."""
        for fault in self.faults:
            raise fault
        seen: dict[str, list[int]] = {}
        for entry in self._entries(self.written):
            seen.setdefault(entry["id"], []).append(entry["seq"])
        for id, (_, seq) in self.acknowledged.items():
            assert seen.get(id) == [seq], f"{id} was acknowledged as {seq}, and is at {seen.get(id)}"
        for log in self.runs:
            ids = [entry["event"]["execution"] for entry in self._entries(log, "execution_requested")]
            for execution in ids:
                self._ended(log, execution)
            claims = self._entries(log, "execution_finished")
            assert sorted(each["event"]["execution"] for each in claims) == sorted(ids), "each ends once"

    def _entries(self, log: str, *types: str) -> list[Any]:
        found: list[Any] = []
        while True:
            after = {"since": found[-1]["seq"]} if found else {}
            narrowed = {"types": ",".join(types)} if types else {}
            page = self._until("GET", f"/api/logs/{log}/events", params={**after, **narrowed})["entries"]
            if not page:
                return found
            found += page


def check_whole(execution: Any) -> None:
    """A cell ended well, and all that it printed is there in order: nobody cancelled it, and no kernel was touched."""
    assert execution["state"] == "ok", f"{execution['state']}: {execution.get('fault')}"
    text = printed(execution)
    assert text == NUMBERS, f"{len(text)} characters instead of {len(NUMBERS)}: {text[-200:]!r}"
