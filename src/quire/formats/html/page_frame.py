"""The frame of a page: one file that fetches nothing and runs nothing."""

from __future__ import annotations

from .escape import escape
from .style_sheet import PAGE

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What a browser may do in it: show its own styles and pictures. There is no script in it, and none may run."""


def page(title: str, body: str, style: str = "") -> str:
    """Return a whole page around `body`, which is HTML; `style` is put behind the styles of all pages."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Quire">
<title>{escape(title)}</title>
<style>{PAGE}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
