"""What goes wrong on the way to a server, in words: for requests and for the socket.

Nothing here loads an HTTP client: a runtime that only uses the socket does without one, and its megabytes.
"""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

from ...core.errors import Unavailable
from .server_address import Address


def closed(address: Address) -> Unavailable:
    """Somebody goes on with a workspace that they closed."""
    return Unavailable(f"The workspace at {address.url} was closed here.")


def unexpected(address: Address, what: str) -> Unavailable:
    """Whoever is there does not speak as a server does."""
    return Unavailable(f"{address.url} does not answer as a Quire server of about this version does. {what}.")


def redirected(address: Address, location: str) -> Unavailable:
    """A server wants us to go elsewhere. The token is for this one."""
    try:
        parts = urlsplit(location)
        where = f"{parts.scheme}://{parts.hostname}" if parts.hostname else parts.path
    except ValueError:
        where = ""
    told = f"{address.url} sends on to {where[:200] or 'another place'}"
    return Unavailable(f"{told}, and the token does not go along. If that is the right address, name it: --at.")


def distrusted(address: Address, error: ssl.SSLError) -> Unavailable:
    """A connection could not be made safe."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        told = f"{address.url} does not encrypt as it should ({error.reason or error})"
        return Unavailable(f"{told}. Is it another port, or http:// on this machine?")
    return Unavailable(
        f"{address.url} cannot be trusted: {error.verify_message}. Set SSL_CERT_FILE to the certificate of the authority "
        "that it is signed by, or ask whoever runs it."
    )


def tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """What was wrong with the encryption, if that is what an error came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, ssl.SSLCertVerificationError) or type(error) is ssl.SSLError:
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None
