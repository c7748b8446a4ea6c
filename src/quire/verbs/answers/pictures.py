"""Pictures small enough to be looked at: scaled down, and as PNG or JPEG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ...core.errors import BadInput
from ...formats.agent_text.image_size import dimensions
from ...formats.html.escape import size
from .answer import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

RASTER = ("image/png", "image/jpeg", "image/webp", "image/gif")
LONG_SIDE = 1000
MOST_BYTES = 300_000
MOST_PIXELS = 50_000_000
"""A picture that is larger once it is unpacked is not: a few kilobytes may hold more than a memory."""
MOST_PACKED = 50_000_000
MOST_RAW = 1_000_000
"""So large a picture may be as it is, where nothing is there that scales it down."""
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_QUALITIES = (85, 70, 50, 30)


def picture(data: bytes, media: str) -> Picture:
    """Return a picture that costs little to look at; BadInput if it is none, or too large to unpack."""
    found = dimensions(data)
    if found is not None and found[0] * found[1] > MOST_PIXELS:
        raise BadInput(
            f"A picture of {found[0]:,}×{found[1]:,} is too large to look at. `quire output --image FILE` writes it."
        )
    try:
        from PIL import Image
    except ImportError:
        return _raw(data, media)
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise BadInput(f"A picture of {opened.width:,}×{opened.height:,} is too large to look at.")
            # All of it, also where it stays as it is: half a picture makes a model refuse the whole answer.
            opened.load()
            if _is_small(opened, data, media):
                return Picture(data=data, media=media)
            opened.thumbnail((LONG_SIDE, LONG_SIDE))
            return _packed(opened)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadInput(
            f"The {media} cannot be read as a picture: {error}. Its bytes: output(of=HANDLE:{media})."
        ) from None


def _is_small(image: Image, data: bytes, media: str) -> bool:
    return max(image.size) <= LONG_SIDE and len(data) <= MOST_BYTES and media in ("image/png", "image/jpeg")


def _raw(data: bytes, media: str) -> Picture:
    """As it is, where Pillow is not installed."""
    if media in RASTER and len(data) <= MOST_RAW and dimensions(data) is not None:
        return Picture(data=data, media=media)
    told = f"A picture of {size(len(data))} has to be scaled down first, and Pillow is not installed"
    raise BadInput(f"{told}: `pip install pillow`, or make the figure smaller.")


def _packed(image: Image) -> Picture:
    """As PNG where that is small enough; else as JPEG, on white, as good as fits."""
    file = io.BytesIO()
    plain = image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else image.convert("RGB")
    plain.save(file, "PNG", optimize=True)
    if file.tell() <= MOST_BYTES:
        return Picture(data=file.getvalue(), media="image/png")
    flat = _on_white(image)
    for quality in _QUALITIES:
        file = io.BytesIO()
        flat.save(file, "JPEG", quality=quality)
        if file.tell() <= MOST_BYTES:
            break
    return Picture(data=file.getvalue(), media="image/jpeg")


def _on_white(image: Image) -> Image:
    from PIL import Image as images

    drawn = image.convert("RGBA")
    page = images.new("RGBA", drawn.size, "white")
    page.alpha_composite(drawn)
    return page.convert("RGB")
