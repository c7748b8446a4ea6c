"""The built app as the server sends it: pages with a policy, files that never change, the frame of outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from quire.doors.http.web_pages import accepted_encodings

from .app import APP_FILES, App


@pytest.fixture
def client(app: App) -> Iterator[httpx.Client]:
    """Somebody without a token."""
    with httpx.Client(base_url=app.url) as made:
        yield made


def some_asset(folder: Path = APP_FILES / "assets") -> str:
    return max((file for file in folder.glob("*.js")), key=lambda file: file.stat().st_size).name


def test_a_signed_in_page_starts_without_breaking_its_policy(app: App, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(app.url)
    expect(page.locator("#app")).not_to_be_empty()
    assert [url for url in asked if not url.startswith((app.url, "data:"))] == []


@pytest.mark.parametrize("path", ["/", "/notebooks/n1", "/runs/r1", "/settings"])
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
