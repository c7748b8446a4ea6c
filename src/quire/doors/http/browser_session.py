"""The secret of a signed-in browser, in two halves: one in a cookie, one in the page's local storage.

Cookies know no ports: a browser sends them to every server on this machine, also to one that a cell started. Local
storage belongs to one origin, port included. So neither half opens anything alone.
"""

from __future__ import annotations

PAGE_KEY_HEADER = "X-Quire-Page-Key"
"""The header with which a page sends its half. A socket sends it in its first frame: a browser sets no headers there."""
MAX_PAGE_KEY = 200
_COOKIE_LENGTH = 27
"""`quire_` and 21 of 43 random characters: each half has more than 120 random bits."""


def split_secret(secret: str) -> tuple[str, str]:
    """Return the half for the cookie and the half for the page."""
    return secret[:_COOKIE_LENGTH], secret[_COOKIE_LENGTH:]


def join_secret(cookie: str, page_key: str) -> str:
    """Return the secret whose halves these are. A cookie that holds more than its half is not one of ours."""
    return cookie[:_COOKIE_LENGTH] + page_key
