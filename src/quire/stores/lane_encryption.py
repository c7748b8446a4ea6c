"""Seals what processes of one workspace tell each other through a place where others may listen, speak, or keep a log.

The key is in the store, for its owner alone. Who does not have it can neither read a message nor make one: a password that
is on its way to a cell stands in no log of the database in the clear, and nobody who may merely connect to the database
speaks in somebody's name. The keystream is SHAKE-256 and the tag HMAC-SHA-256, of keys of their own: the standard
library has no cipher.
"""

from __future__ import annotations

import hashlib
import hmac
import os

NONCE, TAG = 16, 32


class Seal:
    """One key, of at least 128 bits."""

    def __init__(self, key: str) -> None:
        self._stream = hmac.digest(key.encode(), b"stream", "sha256")
        self._proof = hmac.digest(key.encode(), b"proof", "sha256")

    def close(self, text: bytes) -> bytes:
        """Seal a message. Two equal ones do not look alike."""
        nonce = os.urandom(NONCE)
        hidden = self._covered(nonce, text)
        return nonce + self._tag(nonce, hidden) + hidden

    def open(self, sealed: bytes) -> bytes | None:
        """What was sealed with this key; None for anything else."""
        nonce, tag, hidden = sealed[:NONCE], sealed[NONCE : NONCE + TAG], sealed[NONCE + TAG :]
        if len(tag) < TAG or not hmac.compare_digest(tag, self._tag(nonce, hidden)):
            return None
        return self._covered(nonce, hidden)

    def _tag(self, nonce: bytes, hidden: bytes) -> bytes:
        return hmac.digest(self._proof, nonce + hidden, "sha256")

    def _covered(self, nonce: bytes, text: bytes) -> bytes:
        stream = hashlib.shake_256(self._stream + nonce).digest(len(text))
        return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")
