"""The built app as the server sends it: pages with a policy, files that never change, the frame of outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from quire.doors.http.web_pages import accepted_encodings

from ..journeys.server import PLAIN
from .app import APP_FILES, App
from .axe import serious

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}
"""As Chromium and Firefox navigate."""


@pytest.fixture
def client(app: App) -> Iterator[httpx.Client]:
    """Somebody without a token."""
    with httpx.Client(base_url=app.url, verify=PLAIN) as made:
        yield made


def some_asset(folder: Path = APP_FILES / "assets") -> str:
    return max((file for file in folder.glob("*.js")), key=lambda file: file.stat().st_size).name


def test_a_signed_in_page_starts_without_breaking_its_policy(app: App, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(app.url)
    expect(page.locator("#app")).not_to_be_empty()
    assert [url for url in asked if not url.startswith((app.url, "data:"))] == []


@pytest.mark.parametrize("path", ["/", "/notebooks/n1", "/runs/r1", "/schedules", "/settings"])
def test_every_page_is_the_app_with_a_nonce_of_its_own(client: httpx.Client, path: str) -> None:
    first, second = client.get(path), client.get(path)
    nonces = [re.findall('<meta name="csp-nonce" content="([^"]+)"', answer.text) for answer in (first, second)]
    assert len({nonce for found in nonces for nonce in found}) == 2
    policy = first.headers["content-security-policy"]
    assert f"script-src 'self' 'nonce-{nonces[0][0]}'" in policy
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert first.headers["cache-control"] == "no-cache"
    unnamed = re.sub(f'<script nonce="{nonces[0][0]}">', "", first.text)
    assert not re.search(r"<script(?![^>]* src=)", unnamed), "no script stands in the page but with its nonce"


@pytest.mark.parametrize("path", ["/foo", "/notebooks", "/notebooks/a/b", "/settings/more", "/favicon.ico", "/%3Cb%3E"])
def test_an_unknown_address_is_a_page_for_browsers_and_json_for_programs(client: httpx.Client, path: str) -> None:
    first, second = client.get(path, headers=BROWSER), client.get(path, headers=BROWSER)
    assert (first.status_code, first.headers["content-type"]) == (404, "text/html; charset=utf-8")
    nonces = [re.findall('<meta name="csp-nonce" content="([^"]+)"', answer.text)[0] for answer in (first, second)]
    assert nonces[0] != nonces[1]
    for nonce, answer in zip(nonces, (first, second), strict=True):
        home = client.get("/").headers["content-security-policy"]
        assert answer.headers["content-security-policy"] == re.sub("nonce-[^']+", f"nonce-{nonce}", home)
    for accept in ("*/*", "application/json", "text/html;q=0, application/json"):
        answer = client.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "NotFound")
    assert client.post(path, headers=BROWSER).json()["error"]["kind"] in ("NotFound", "BadInput")


@pytest.mark.parametrize(
    "path", ["/api/nothing", "/api", "/mcp/nothing", "/frame/nothing", "/assets/index-absent.js", "/assets/a/b.js"]
)
def test_what_programs_ask_for_is_never_answered_with_a_page(client: httpx.Client, path: str) -> None:
    answer = client.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


def test_an_address_that_leads_nowhere_says_so_and_leads_home(app: App, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.emulate_media(color_scheme="dark")
    for path, told in (
        ("/foo", "There is nothing at /foo"),
        ("/notebooks/nope", "There is no notebook at /notebooks/nope"),
        ("/notebooks/a%20b", "There is no notebook at /notebooks/a%20b"),
        ("/notebooks/%E0%A4%A", "There is no notebook at /notebooks/%E0%A4%A"),
        ("/runs/nope", "There is no run at /runs/nope"),
        ("/" + "long/" * 60, "There is nothing at /long/"),
    ):
        page.goto(app.url + path)
        expect(page.get_by_role("heading", name=told)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
        assert serious(page) == [], path
    page.get_by_role("link", name="All notebooks", exact=True).click()
    expect(page).to_have_url(f"{app.url}/")
    expect(page.get_by_role("button", name="New notebook")).to_be_visible()


def test_an_address_that_leads_nowhere_says_so_before_anybody_signs_in(app: App) -> None:
    context = app.browser.new_context()
    page = context.new_page()
    page.goto(f"{app.url}/foo")
    expect(page.get_by_role("heading", name="There is nothing at /foo")).to_be_visible()
    page.get_by_role("link", name="All notebooks", exact=True).click()
    expect(page.get_by_role("heading", name="Sign this browser in")).to_be_visible()
    context.close()


def test_files_never_change_and_are_sent_compressed(client: httpx.Client) -> None:
    address = f"/assets/{some_asset()}"
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    assert plain.headers["content-type"].startswith("text/javascript") and "content-encoding" not in plain.headers
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["cross-origin-resource-policy"] == "same-origin"
    for encoding in ("br", "gzip"):
        with client.stream("GET", address, headers={"Accept-Encoding": encoding}) as answer:
            packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == encoding and answer.headers["vary"] == "Accept-Encoding"
        assert len(packed) < len(plain.content) / 2
    assert client.get(address, headers={"Accept-Encoding": "gzip"}).content == plain.content


@pytest.mark.parametrize(
    "path",
    [
        "/assets/absent.js",
        "/assets/manifest.json",
        "/assets/..%2Fmanifest.json",
        "/assets/..%2F..%2Fweb_pages.py",
        "/assets/%2Fetc%2Fpasswd",
        "/assets/.hidden.js",
        "/frame/assets/..%2F..%2Fassets%2Fx.js",
    ],
)
def test_nothing_else_is_a_file(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_frame_has_an_opaque_origin_and_reaches_nothing(client: httpx.Client, app: App) -> None:
    if not (APP_FILES / "frame").is_dir():
        pytest.skip("there is no frame yet")
    answer = client.get("/frame/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; ")
    assert f"script-src 'unsafe-inline' 'unsafe-eval' {app.url}/frame/;" in policy
    for closed in ("connect-src", "frame-src", "child-src", "form-action", "base-uri"):
        assert f"{closed} 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    for file in (APP_FILES / "frame" / "assets").glob("*.js"):
        headers = client.get(f"/frame/assets/{file.name}").headers
        assert headers["cross-origin-resource-policy"] == "cross-origin"
        assert headers["access-control-allow-origin"] == "*"


def test_hosts_that_a_person_allowed_are_in_the_frames_policy(client: httpx.Client) -> None:
    answer = client.get("/frame/", params={"hosts": "cdn.plot.ly,unpkg.com"})
    if answer.status_code == 503:
        pytest.skip("there is no frame yet")
    policy = answer.headers["content-security-policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    for name in ("script-src", "style-src", "img-src", "font-src", "connect-src"):
        assert parts[name].endswith("https://cdn.plot.ly https://unpkg.com")
    assert parts["frame-src"] == "'none'"


@pytest.mark.parametrize(
    "hosts",
    [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "*.example.org",
        "example.org:8080",
        "https://example.org",
        "example.org/path",
        "a.example.org;script-src *",
        "a.example.org 'unsafe-inline'",
        "EXAMPLE.ORG",
        "example.org\n",
        "-a.org",
        ",".join(f"a{number}.example.org" for number in range(21)),
    ],
)
def test_what_is_not_a_host_name_opens_no_frame(client: httpx.Client, hosts: str) -> None:
    assert client.get("/frame/", params={"hosts": hosts}).status_code == 400


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("", []),
        ("gzip, deflate, br, zstd", ["br", "gzip"]),
        ("gzip;q=1.0, br;q=0", ["gzip"]),
        ("*", ["br", "gzip"]),
        ("*;q=0.5, br;q=0", ["gzip"]),
        ("GZIP", ["gzip"]),
        ("identity", []),
        ("br;q=nonsense", ["br"]),
    ],
)
def test_encodings_are_taken_as_the_client_says(header: str, taken: list[str]) -> None:
    assert accepted_encodings(header) == taken
