"""The address that signs a browser in, and the browser."""

from __future__ import annotations

import threading
from urllib.parse import quote


def sign_in_url(url: str, secret: str, notebook: str | None = None) -> str:
    """Where to go. The secret stands in the fragment, which no browser sends to any server."""
    shown = f"&notebook={quote(notebook)}" if notebook is not None else ""
    return f"{url.rstrip('/')}/#sign-in={quote(secret)}{shown}"


def show(url: str) -> None:
    """Open the person's browser, if there is one. Some take their time: nobody waits for them."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
