"""Images compared by their pixels. Without Pillow they have to be the same bytes."""

from __future__ import annotations

import base64
import binascii
import io
from typing import Any, cast

MEDIA = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")
CHANNEL = 16
"""How far apart, of 255, a channel may be: less is how one version of a library smooths an edge and another does not."""
MOST_PIXELS = 50_000_000


def difference(expected: str, actual: str) -> tuple[float, str]:
    """Return the share of pixels that differ, and why in words; 0 where the images are the same."""
    if expected == actual:
        return 0.0, ""
    try:
        one, other = (base64.b64decode("".join(text.split()), validate=True) for text in (expected, actual))
    except (binascii.Error, ValueError):
        return 1.0, "one of the two is no image"
    if one == other:
        return 0.0, ""
    try:
        from PIL import Image, ImageChops
    except ImportError:
        return 1.0, "the bytes differ; with Pillow installed (quire[mcp]) pixels are compared"
    image: Any = Image
    try:
        left, right = (image.open(io.BytesIO(data)) for data in (one, other))
        if left.size != right.size:
            return 1.0, f"{_size(left)} pixels became {_size(right)}"
        if left.size[0] * left.size[1] > MOST_PIXELS:
            return 1.0, "the bytes differ, and the image is too large to be compared by pixels"
        parted = cast("Any", ImageChops).difference(left.convert("RGBA"), right.convert("RGBA"))
    except (OSError, ValueError, image.DecompressionBombError) as error:
        return 1.0, f"one of the two cannot be read: {error}"
    # The largest of the four differences of each pixel.
    bands = parted.split()
    most = bands[0]
    for band in bands[1:]:
        most = cast("Any", ImageChops).lighter(most, band)
    histogram: list[int] = most.histogram()
    share = sum(histogram[CHANNEL + 1 :]) / max(1, left.size[0] * left.size[1])
    return share, f"{share:.2%} of the pixels differ"


def _size(image: Any) -> str:
    return f"{image.size[0]} × {image.size[1]}"
