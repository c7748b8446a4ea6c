"""Where a server is, and whether a token may be sent there.

A token goes over an encrypted connection, or to this machine; nothing secret is part of an address.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

import msgspec

from ...core.errors import BadInput, Refused
from ...core.hosts import is_loopback


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a server, checked. Everything of the API is under it."""

    url: str
    """Without a slash at the end, and without anything that should not be shown."""
    secure: bool
    loopback: bool

    @property
    def socket(self) -> str:
        """Where its socket is."""
        return f"ws{self.url.removeprefix('http')}/api/socket"

    @property
    def by_proxy(self) -> bool:
        """Whether a proxy that the environment names may stand in between: it sees nothing of what is encrypted."""
        return self.secure and not self.loopback


def read_address(text: str, *, allow_http: bool = False) -> Address:
    """Check what somebody gave as the address of a server. No part that may be secret is repeated in a message."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadInput("The address of the server cannot be read. Write https://HOST or https://HOST:PORT.") from None
    if parts.scheme not in ("http", "https") or not host or any(each.isspace() for each in host):
        raise BadInput("The address of a server is https://HOST or https://HOST:PORT. This one has no host.")
    _check_parts(parts)
    secure, loopback = parts.scheme == "https", is_loopback(host)
    shown = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{shown}{f':{port}' if port is not None else ''}{parts.path.rstrip('/')}"
    if not secure and not loopback and not allow_http:
        told = f"{url} is not encrypted, and another machine: everybody on the way could read the token"
        raise Refused(f"{told}. Use https://, or set QUIRE_ALLOW_HTTP=1 where the network itself is safe.")
    return Address(url=url, secure=secure, loopback=loopback)


def _check_parts(parts: SplitResult) -> None:
    if parts.username is not None or parts.password is not None:
        raise BadInput("The address of the server holds a name or a password. Leave that out, and set QUIRE_TOKEN.")
    if parts.fragment or parts.query:
        told = "The address of the server ends with its path: what follows a `#` or `?` is for a browser"
        raise BadInput(f"{told}. Leave that out, and set QUIRE_TOKEN to a token (`quire token new`).")


def check_secret(secret: str) -> str:
    """Refuse what cannot be a token before it gets into a header; it is not repeated."""
    token = secret.strip()
    if not token:
        raise BadInput("QUIRE_TOKEN is empty. Set it to a token of that workspace (`quire token new` makes one).")
    if not all("!" <= each <= "~" for each in token):
        raise BadInput("QUIRE_TOKEN is not a token: it holds spaces or other characters that none has. Copy it again.")
    return token
