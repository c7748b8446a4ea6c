"""Messages on the wire, against jupyter_client's own hand."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session

from quire.core.errors import BadInput
from quire.kernels.transport.jupyter_wire import Wire

KEY = "0123456789abcdef"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text("xé\n\0\U0001f98a", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)


def session() -> Session:
    return Session(key=KEY.encode())


@pytest.mark.generated
@given(
    st.dictionaries(st.text("abé", max_size=3), json_values, max_size=3), st.lists(st.binary(max_size=5), max_size=2)
)
def test_jupyter_reads_what_we_write_and_we_what_it_writes(content: dict[str, Any], buffers: list[bytes]) -> None:
    id, frames = Wire(KEY).pack("comm_msg", content, metadata={"m": 1}, buffers=buffers)
    _, parts = session().feed_identities(frames)
    theirs = session().deserialize(parts)
    assert (theirs["msg_id"], theirs["msg_type"], theirs["content"]) == (id, "comm_msg", content)
    assert (theirs["metadata"], [bytes(each) for each in theirs["buffers"]]) == ({"m": 1}, buffers)
    parent = {"header": {"msg_id": "p1", "msg_type": "x"}}
    there: Any = session()
    sent = there.serialize(there.msg("stream", content, parent=parent, metadata={"m": 1}), ident=b"topic")
    heard = Wire(KEY).unpack([*sent, *buffers], "iopub")
    assert heard
    message = heard.message
    assert (message.type, message.content, message.metadata) == ("stream", content, {"m": 1})
    assert (message.parent_id, message.buffers, message.channel) == ("p1", tuple(buffers), "iopub")


def frames(content: bytes = b"{}", key: str = KEY) -> list[bytes]:
    wire = Wire(key)
    parts = [b'{"msg_id": "1", "msg_type": "stream"}', b"{}", b"{}", content]
    sign = cast("Any", wire)._signature
    return [b"<IDS|MSG>", sign(parts), *parts]


@pytest.mark.parametrize(
    "broken",
    [
        [],
        [b"<IDS|MSG>"],
        frames()[:-1],
        frames()[1:],
        frames(key="another"),
        [*frames()[:5], b'{"text": "forged"}'],
        [b"<IDS|MSG>", b"", *frames()[2:]],
    ],
)
def test_a_message_that_is_broken_or_forged_is_none(broken: list[bytes]) -> None:
    assert Wire(KEY).unpack(broken, "iopub") is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 100_000, b'{"a":' * 100_000])
def test_a_message_whose_content_makes_no_sense_still_counts(content: bytes) -> None:
    heard = Wire(KEY).unpack(frames(content), "iopub")
    assert heard
    assert (heard.message.type, heard.message.content) == ("stream", {})


def test_what_json_does_not_allow_is_read_all_the_same() -> None:
    heard = Wire(KEY).unpack(frames(b'{"a": NaN, "b": "\\ud800", "c": "\xff", "d": 1e999}'), "iopub")
    assert heard
    assert repr(heard.message.content) == repr({"a": float("nan"), "b": "\ud800", "c": "\ufffd", "d": float("inf")})


def test_a_kernel_without_a_key_is_believed() -> None:
    assert Wire("").unpack(frames(key=""), "iopub")
    assert Wire("").unpack([b"<IDS|MSG>", b"whatever", *frames()[2:]], "iopub")


def test_a_signature_that_nobody_knows_is_named() -> None:
    with pytest.raises(BadInput, match="hmac-rot13"):
        Wire(KEY, "hmac-rot13")
