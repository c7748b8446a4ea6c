"""What a text costs the agent that reads it, and how it is cut to what there is to spend.

Tokens are estimated: four ASCII characters are one, any other character is one of its own. Costs
are counted in quarters of a token, which add up without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

QUARTERS = 4
"""Of a token: what an ASCII character costs is one of them."""
UNLIMITED = 1 << 60
LEAST = 4 * QUARTERS
"""Below this nothing is worth its line."""


def cost(text: str) -> int:
    """What a text costs, in quarters of a token."""
    if text.isascii():
        return len(text)
    ascii_characters = len(text.encode("ascii", "ignore"))
    return ascii_characters + QUARTERS * (len(text) - ascii_characters)


def tokens(text: str) -> int:
    """How many tokens a text is estimated to be."""
    return -(-cost(text) // QUARTERS)


def head(text: str, most: int) -> str:
    """The longest beginning that costs no more than this."""
    return text[: _count(text[: max(most, 0)], most)]


def tail(text: str, most: int) -> str:
    """The longest end that costs no more than this."""
    part = text[-most:] if most > 0 else ""
    return part[len(part) - _count(part[::-1], most) :]


def _count(text: str, most: int) -> int:
    """How many characters from the start of `text` can be paid for."""
    if text.isascii():
        return min(len(text), max(most, 0))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[low:middle]) <= most:
            most -= cost(text[low:middle])
            low = middle
        else:
            high = middle - 1
    return low


def cut(text: str, most: int) -> str:
    """A text as it is, or its beginning with a mark that there is more; empty where not even that can be paid for."""
    if len(text) <= most and cost(text) <= most:
        return text
    return head(text, most - QUARTERS) + "…" if most >= LEAST else ""


def lines_cost(lines: Sequence[str]) -> int:
    """What lines cost, each with its end."""
    return sum(map(cost, lines)) + len(lines)


class Purse:
    """What is left of a budget."""

    def __init__(self, tokens: int | None) -> None:
        self.left = UNLIMITED if tokens is None else tokens * QUARTERS

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has to be left out."""
        return self.left > UNLIMITED // 2

    def pay(self, lines: Sequence[str]) -> bool:
        """Whether these lines can be paid for; then they are."""
        price = lines_cost(lines)
        if price > self.left:
            return False
        self.left -= price
        return True
