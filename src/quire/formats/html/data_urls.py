"""Pictures and sounds as `data:` addresses: in the page, shown as what they are, never run."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

from ...core.values import Json

MOST_BYTES = 10_000_000
"""Of one picture or sound, as text; larger ones are named, not shown."""
RASTER = ("image/png", "image/jpeg", "image/webp", "image/gif")
SVG = "image/svg+xml"
PICTURES = (SVG, *RASTER)
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def picture_address(data: dict[str, Json]) -> str | None:
    """The first picture of a bundle that a page can hold."""
    return next((address for media in PICTURES if (address := data_address(media, data.get(media))) is not None), None)


def data_address(media: str, value: Any) -> str | None:
    """The `data:` address of what an output holds; None when it is too large, or no base64."""
    if not isinstance(value, str) or len(value) > MOST_BYTES:
        return None
    # SVG too as a picture: there, browsers run no script in it and fetch nothing for it.
    text = b64encode(value.encode("utf-8", "replace")).decode() if media == SVG else re.sub(r"\s+", "", value)
    return f"data:{media};base64,{text}" if _BASE64.fullmatch(text) else None
