"""Frames as they come in: read strictly, and every fault is named."""

from __future__ import annotations

import msgspec

from ....core import codec
from ....core.errors import BadInput
from ....workspace.wire.frames import Hello, Say, Submit, ToServer
from ..error_responses import signed_out

MOST_ID = 100
"""How long the name of a request may be: it is sent with each answer."""
MOST_SAID = 64 << 10
"""How large a message on a lane may be: what is larger is worth a blob."""

_decoder: msgspec.json.Decoder[ToServer] = msgspec.json.Decoder(ToServer)


_hello = msgspec.json.Decoder(Hello)


class _FrameName(msgspec.Struct):
    id: str | None = None


_named = msgspec.json.Decoder(_FrameName)


def read_frame(text: str | None) -> ToServer:
    """What a client sent."""
    if text is None:
        raise BadInput(
            "Frames are JSON in text messages, and this one was binary. docs/reference/socket.md lists them."
        )
    try:
        frame = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(f"This is no frame: {error}. docs/reference/socket.md lists them.") from error
    if isinstance(frame, Submit | Say):
        codec.check_json(text, "The frame")
    if isinstance(frame, Say):
        _check_said(text)
    elif not 0 < len(frame.id) <= MOST_ID:
        raise BadInput(f"The id of a request is 1 to {MOST_ID} characters, not {len(frame.id):,}.")
    return frame


def read_hello(text: str | None) -> str:
    """The key of a page, from the first frame that it sent."""
    try:
        return _hello.decode(text or "").page_key
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise signed_out("The first frame of a page is `hello` with its page_key: docs/reference/socket.md.") from None


def name_in(text: str | None) -> str | None:
    """The id of what cannot be read otherwise, so that whoever asked knows what failed."""
    try:
        found = _named.decode(text or "").id
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if found is not None and 0 < len(found) <= MOST_ID else None


def _check_said(text: str) -> None:
    if len(text) > MOST_SAID:
        raise BadInput(f"A message of {len(text):,} characters is too large for a lane; {MOST_SAID:,} are allowed.")
