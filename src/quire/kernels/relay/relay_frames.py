"""How a relay and a runtime talk: frames, both ways, of a length in 4 octets, a kind in one, and a body.

    to the runtime    W whole (1) or not (0)     F the flight           M number, channel, parts
                      N a note, as it was given  A stdin was answered   U no more outputs come
                      L from here on live        R in use
    from the runtime  Q version: the first word of whoever connects
                      S channel, parts: send     B number, size, flight, channel, parts: forget, remember, send
                      N a note                   D number: forget       G keep (1) or end (0): goodbye

Numbers have 8 octets, sizes 4, channels one. With the standard library alone: relay.py says why.
"""

from __future__ import annotations

from collections.abc import Sequence

SOCKET = "relay"
"""The name of the socket in the kernel's folder."""
VERSION = b"quire-relay-1"
CHANNELS = ("iopub", "stdin", "shell", "control")


def framed(kind: bytes, body: bytes = b"") -> bytes:
    """A frame as it travels."""
    return (len(body) + 1).to_bytes(4, "big") + kind + body


def packed(parts: Sequence[bytes]) -> bytes:
    """The parts of a message, each after its size."""
    return b"".join([each for part in parts for each in (len(part).to_bytes(4, "big"), part)])


def unpacked(data: bytes, start: int) -> list[bytes]:
    """The parts again. ValueError when something is missing."""
    parts: list[bytes] = []
    while start < len(data):
        end = start + 4 + int.from_bytes(data[start : start + 4], "big")
        if end > len(data):
            raise ValueError("a part is cut off")
        parts.append(data[start + 4 : end])
        start = end
    return parts
