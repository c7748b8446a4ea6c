"""The app in a browser whose server is away: what was opened once opens again, from the browser's storage."""

from __future__ import annotations

from playwright.sync_api import expect

from ..journeys.server import until
from .app import App, answered

KEPT = """async () => {
  const cache = await caches.open("quire-app")
  const paths = (await cache.keys()).map(({ url }) => new URL(url).pathname)
  return paths.includes("/") && paths.some((path) => /NotebookPage.*js/.test(path))
}"""
STORED = """(seq) => new Promise((found) => {
  const open = indexedDB.open("quire")
  open.onsuccess = () => {
    const all = open.result.transaction("notebooks").objectStore("notebooks").getAll()
    all.onsuccess = () => {
      open.result.close()
      found(all.result.some((one) => one.notebook.seq === seq))
    }
  }
})"""


def test_a_notebook_is_followed_live_and_opens_again_when_the_server_is_gone(app: App) -> None:
    """Rule 2: what others record arrives. What was seen once is in the browser's storage, and so is the app."""
    log = app.notebook("sales", "x = 1")
    context = app.context(service_workers="allow")
    page = app.open(context.new_page(), log)
    expect(page.locator("[data-cell] pre").first).to_have_text("x = 1")
    with app.client() as client:
        (cell,) = app.read(log)["order"]
        edit = {"type": "source_edited", "cell": cell, "base": 2, "edit": [[5, 0, "0🦊"]]}
        answered(client.post(f"/api/logs/{log}/events", json={"drafts": [{"id": "d1", "event": edit}]}))
    expect(page.locator("[data-cell] pre").first).to_have_text("x = 10🦊")
    until(lambda: page.evaluate(STORED, 3), "the notebook is not stored")
    # The worker keeps what it sees, from the second time on; the rest it fetches when the page is idle.
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active.postMessage('keep'))")
    until(lambda: page.evaluate(KEPT), "the app is not kept")
    app.stop()
    try:
        page.close()
        page = context.new_page()
        page.goto(f"{app.url}/notebooks/{log}")
        expect(page.locator("[data-cell] pre").first).to_have_text("x = 10🦊")
        expect(page.get_by_text("The server does not answer.")).to_be_visible()
    finally:
        app.start()
        context.close()
