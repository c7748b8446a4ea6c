"""What whoever runs a server may set. docs/reference/settings.md has a row for each."""

from __future__ import annotations

import msgspec

MEBIBYTE = 1 << 20
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Names, limits and times of a server. The defaults are for one machine and its user."""

    hosts: tuple[str, ...] = LOOPBACK
    """The names, without ports, under which browsers may ask for it: no other page can pretend to be one of them."""
    origins: tuple[str, ...] = ()
    """Other origins (`https://example.org`) whose pages may use a cookie of this server."""
    proxies: tuple[str, ...] = ()
    """Addresses of proxies that are believed about whom and over what they speak for."""
    body_bytes: int = 17 * MEBIBYTE
    """The largest body of a request that is read into memory: the largest event, and what stands around it."""
    upload_bytes: int = 1024 * MEBIBYTE
    """The largest blob or import: those go to disk as they come."""
    notebook_bytes: int = 64 * MEBIBYTE
    """The largest notebook file (.ipynb, .py, .md) that is imported."""
    requests_per_second: float = 200
    """How many requests a token may make on average."""
    request_burst: int = 1000
    """How many it may make at once."""
    failures_per_minute: int = 60
    """How many wrong tokens an address may try."""
    connections: int = 2000
    """How many connections there are at most, sockets among them."""
    sockets_per_token: int = 50
    """How many sockets a token may have open."""
    follows_per_socket: int = 200
    """How many logs and lanes a socket may follow."""
    frame_bytes: int = 16 * MEBIBYTE
    """The largest frame that a socket takes."""
    says_per_second: float = 100
    """How much may be said on the lanes of a socket, on average."""
    says_burst: int = 500
    """How much may be said at once."""
    head_seconds: float = 15
    """How long a client may take for the head of a request, and a page for the first frame of its socket."""
    body_seconds: float = 30
    """How long it may take for the body, and a second longer for each `body_bytes_per_second` that came."""
    body_bytes_per_second: int = 16 * 1024
    """How slow a body may be in the long run."""
    stall_seconds: float = 30
    """How long a client may take nothing of what it is sent."""
    agent_quiet_seconds: float = 180
    """How long an agent is shown in a notebook after its last call of a tool."""
    browser_days: int = 30
    """How long a browser stays signed in."""
