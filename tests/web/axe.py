"""What axe-core finds on a page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from .node import WEB

SCRIPT = WEB / "node_modules" / "axe-core" / "axe.min.js"
# Base UI puts elements around an open menu that catch the focus and hand it on at once.
_GUARDS = "[data-base-ui-focus-guard]"

# Colours go over into those of the other scheme, and what is new fades in: axe is to see where they arrive.
_ARRIVE = """() => {
  for (const it of document.getAnimations()) if (it.effect.getComputedTiming().endTime < Infinity) it.finish()
}"""


def serious(page: Page) -> list[str]:
    """Return what is serious or critical, one line each."""
    if not page.evaluate("() => 'axe' in window"):  # it stays until the next page
        page.evaluate(f"() => {{ {SCRIPT.read_text(encoding='utf-8')} }}")
    page.evaluate(_ARRIVE)
    found: Any = page.evaluate(
        "guards => axe.run({ exclude: [[guards]] }, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
        _GUARDS,
    )
    return [
        f"{fault['id']}: {fault['help']}: {node['html'][:200]}: {node['failureSummary'][:300]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
