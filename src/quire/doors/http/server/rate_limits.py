"""How much one bearer or one address may do: so many at once, and so many a second after that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

KEPT = 10_000
"""How many bearers or addresses are remembered; those that were quiet longest go first."""


class Allowance:
    """For each name, a supply that refills by itself."""

    def __init__(self, most: float, per_second: float, now: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._per_second = per_second
        self._now = now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take one; return 0, or how many seconds to wait until there is one."""
        left, now = self.left(name), self._now()
        if left < 1:
            return (1 - left) / self._per_second
        self._left[name] = (left - 1, now)
        self._left.move_to_end(name)
        while len(self._left) > KEPT:
            self._left.popitem(last=False)
        return 0.0

    def left(self, name: str) -> float:
        """How many there are now."""
        left, then = self._left.get(name, (self._most, self._now()))
        return min(self._most, left + (self._now() - then) * self._per_second)
