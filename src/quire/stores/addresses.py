"""Addresses of files and blobs elsewhere: what they may hold, and how they are shown.

No client is needed for this, and none is loaded.
"""

from __future__ import annotations

import re

from ..core.errors import BadInput

BUCKETS = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "azure": "az", "adl": "az", "abfs": "az", "abfss": "az"}
"""Scheme to whose storage it is."""
WEB = ("https", "http")
_SETTINGS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL",
    "gs": "GOOGLE_SERVICE_ACCOUNT",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
_QUERY = re.compile(r"[?#]")
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d+)?")
"""A host, and perhaps a port."""


def shown(url: str) -> str:
    """The address without what may be secret in it. By hand: a key with a slash misleads urlsplit."""
    scheme, _, rest = url.partition("://")
    if scheme in WEB:
        authority, slash, path = _QUERY.split(rest)[0].partition("/")
        host = authority.rpartition("@")[2]
        return f"{scheme}://{host}{slash}{path}" if HOST.fullmatch(host) else f"{scheme}://…"
    if "@" in rest and _QUERY.search(rest):  # which of them is part of a secret?
        return f"{scheme}://…"
    return f"{scheme}://{_QUERY.split(rest.rpartition('@')[2])[0]}"


def settings_of(url: str) -> str:
    """What to look at when the storage at an address says no."""
    return _SETTINGS.get(BUCKETS.get(url.partition("://")[0], ""), "the address")


def check_plain(url: str) -> None:
    """Refuse an address with more in it than bucket and path."""
    rest = url.partition("://")[2]
    if ":" in rest.rpartition("@")[0] or _QUERY.search(rest):
        told = f"only bucket and path belong into the address. For the rest, set {settings_of(url)}."
        raise BadInput(f"{shown(url)}: {told}")
