"""Keep the pictures that README and docs show, small enough for git, and no others.

    python tools/doc_images.py SCREENSHOTS
    python tools/doc_images.py --demos FILMS

SCREENSHOTS has what tests/web/test_screens*.py took. What a page shows is its links to
docs/images/NAME.png. FILMS has what tests/demos filmed; docs/demos/index.html says which.
"""

import re
import shutil
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
DEMOS = ROOT / "docs" / "demos"
COLOURS = 256
"""Enough for text, marks and a chart; with half as many, highlighted code loses its colours."""
SHORTEST, MARGIN = 300, 24
"""Pixels: of a picture that is trimmed, and of what is left below the last thing on it."""
LARGEST = 120_000
"""Bytes of one picture: they stay in the history of the repository for ever."""


def shown() -> set[str]:
    """Return the names of the pictures that pages link to."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in re.findall(r"images/([\w-]+\.png)", page.read_text(encoding="utf-8"))}


def trimmed(picture: Image.Image) -> Image.Image:
    """Return a picture without the empty rest of the page at its foot: rows that are all like the last one."""
    width, height = picture.size
    last = picture.crop((0, height - 1, width, height)).tobytes()
    end = height
    while end > SHORTEST and picture.crop((0, end - 1, width, end)).tobytes() == last:
        end -= 1
    return picture.crop((0, 0, width, min(height, end + MARGIN)))


def keep(taken: Path, kept: Path) -> None:
    """Write a picture with few colours."""
    with Image.open(taken) as picture:
        small = trimmed(picture.convert("RGB")).quantize(
            COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE
        )
        small.save(kept, optimize=True)
    if (size := kept.stat().st_size) > LARGEST:
        raise SystemExit(f"{kept} has {size:,} bytes, more than {LARGEST:,}: show less on it.")


def keep_images(taken: Path) -> None:
    """Keep the pictures that pages link to, and no others."""
    IMAGES.mkdir(exist_ok=True)
    names = shown()
    for name in sorted(names):
        keep(taken / name, IMAGES / name)
        print(f"docs/images/{name}")
    for left in IMAGES.glob("*.png"):
        if left.name not in names:
            left.unlink()


def keep_demos(filmed: Path) -> None:
    """Keep the films and pictures that the page of the demos shows."""
    for name in re.findall(r'src="([^"]+)"', (DEMOS / "index.html").read_text(encoding="utf-8")):
        if name.endswith(".png"):
            keep(filmed / name, DEMOS / name)
        else:
            shutil.copyfile(filmed / name, DEMOS / name)
        print(f"docs/demos/{name}")


if __name__ == "__main__":
    if sys.argv[1] == "--demos":
        keep_demos(Path(sys.argv[2]))
    else:
        keep_images(Path(sys.argv[1]))
