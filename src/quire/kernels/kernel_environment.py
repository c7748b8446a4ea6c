"""The variables that kernels, and processes that start kernels, get: none of Quire's own.

A cell can print its environment into the log or the file, and read that of the processes above it. Quire's variables say
where the store is and who may use it, often with a password in them. So none whose name begins with QUIRE_ is handed
on: no list that a new variable would have to join, and no exception, for nothing in a kernel reads one. A process of ours
that needs some gets them on its standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

OURS = "QUIRE_"
"""How the names of Quire's own variables begin."""
# A kernel that knows its parent dies at once with it, and ours has a grace.
_OF_JUPYTER = ("JPY_PARENT_PID",)
_FOR_STORES = ("QUIRE_BLOBS", "QUIRE_ALLOW_HTTP")
"""What a process of ours needs beside the address to open a store and files elsewhere."""


def kernel_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a kernel, or a process that starts one, may have."""
    return {name: value for name, value in environ.items() if not name.startswith(OURS) and name not in _OF_JUPYTER}


def store_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what is told, on its standard input, to a process of ours that opens the store."""
    return {name: environ[name] for name in _FOR_STORES if name in environ}


def hide_variables() -> None:
    """Overwrite the values of our variables where the system keeps them, in /proc/PID/environ; `os.environ` has them still.

    For processes that are all ours: what they start without naming its variables finds ours empty.
    """
    if sys.platform != "linux" or not any(name.startswith(OURS) for name in os.environ):
        return
    import ctypes

    variables = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    at = 0
    while variables[at]:
        address = variables[at] or 0
        name, _, value = ctypes.string_at(address).partition(b"=")
        if name.startswith(OURS.encode()):
            ctypes.memset(address + len(name) + 1, 0, len(value))
        at += 1
