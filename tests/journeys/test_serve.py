"""`quire serve` as people use it: real processes, real kernels, killed and restarted."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect as connect_socket

from quire.doors.http.server.ports import DEFAULT_PORT

from ..terminal import OnTerminal
from .faulty_notebook import DEADLINE_SECONDS, QUIRE, wait_until
from .live_runtimes import end_runtimes, holders
from .server import Folder, Server, events, free_port, printed, run_cell, until

SALES = '# %% name="define"\nx = 41\n\n# %% name="show"\nprint(x + 1)\n'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    (tmp_path / "sales.py").write_text(SALES)
    made = Folder(tmp_path)
    yield made
    made.close()
    end_runtimes(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """A folder for the tests that do their server no harm."""
    path = tmp_path_factory.mktemp("shared")
    (path / "sales.py").write_text(SALES)
    made = Folder(path)
    yield made
    made.verify()
    made.close()
    end_runtimes(path)


@pytest.fixture(scope="module")
def log(shared: Folder) -> str:
    return imported(shared)


@pytest.fixture(scope="module")
def server(shared: Folder) -> Iterator[Server]:
    made = shared.start()
    yield made
    assert made.end() == 0


def imported(folder: Folder) -> str:
    return folder.imported("sales.py")


# ---- One command


def test_somebody_signs_in_and_runs_a_cell_whose_output_arrives(folder: Folder) -> None:
    log = imported(folder)
    server = folder.start("--port", str(free_port()))
    with server.browser() as browser:
        me = browser.get("/api/me").json()
        assert "approve" in me["scopes"], "a signed-in browser may say yes to agents"
        run_cell(browser, log, "define")
        assert printed(run_cell(browser, log, "show")) == "42\n"
        token = server.told["sign_in"].partition("#sign-in=")[2]
        assert browser.post("/api/sign-in", json={"token": token}).status_code == 401, "it is good once"
    assert server.end() == 0
    assert not (folder.path / ".quire" / "serve.json").exists()
    folder.verify()


def test_a_runtime_outlives_a_server_that_was_killed_and_the_next_one_starts_no_other(folder: Folder) -> None:
    """Rule 11."""
    log = imported(folder)
    token = folder.token("read", "edit", "run")
    server = folder.start("--port", str(free_port()))  # the usual one is taken by whoever tests beside this
    with server.client(token) as client:
        run_cell(client, log, "define")
    before = holders(folder.path)
    assert len(before) == 1
    server.end(signal.SIGKILL)
    again = folder.start()
    assert again.port == server.port, "browsers and followers find it where it was"
    with again.client(token) as client:
        assert printed(run_cell(client, log, "show")) == "42\n", "what the kernel knew is there"
    assert holders(folder.path) == before
    assert again.end() == 0
    assert holders(folder.path) == before, "nor does a clean end of the server end it"


def test_two_runs_beside_a_server_have_their_own_runtimes(shared: Folder, server: Server, log: str) -> None:
    runs = [shared.run("run", "sales.py", "--json") for _ in range(2)]
    token = shared.token("read", "edit", "run")
    with server.client(token) as client:
        run_cell(client, log, "define")
        assert printed(run_cell(client, log, "show")) == "42\n"
        outcomes = [json.loads(run.communicate()[0]) for run in runs]
        assert [outcome["status"] for outcome in outcomes] == ["success", "success"]
        claims = [events(client, outcome["run"], "run_claimed") for outcome in outcomes]
        claims.append(events(client, log, "execution_claimed"))
    actors: list[set[str]] = [{entry["actor"] for entry in page} for page in claims]
    assert [len(each) for each in actors] == [1, 1, 1]
    assert len(actors[0] | actors[1] | actors[2]) == 3, "three runtimes"


def test_files_and_notebooks_are_mirrored_unless_that_is_left_out(folder: Folder) -> None:
    log = imported(folder)
    folder.quire("bind", log, "sales.py")
    token = folder.token("read")
    server = folder.start("--no-mirror")
    (folder.path / "sales.py").write_text(SALES.replace("41", "1"))
    with server.client(token) as client:
        seq = client.get(f"/api/notebooks/{log}").json()["seq"]
        server.end()
        server = folder.start()
        with server.client(token) as other:
            found = until(
                lambda: now if (now := other.get(f"/api/notebooks/{log}").json())["seq"] > seq else None,
                "the change does not arrive",
            )
    assert any(cell["source"] == "x = 1" for cell in found["cells"].values())
    assert server.end() == 0


# ---- Its end


def test_it_ends_cleanly_and_tells_whoever_is_connected(folder: Folder) -> None:
    log = imported(folder)
    server = folder.start()
    token = folder.token("read")
    headers = {"Authorization": f"Bearer {token}"}
    with connect_socket(f"{server.url.replace('http', 'ws')}/api/socket", additional_headers=headers) as open_socket:
        open_socket.send(json.dumps({"type": "follow", "id": "f", "log": log}))
        wait_until(lambda: '"events"' in str(open_socket.recv()), "nothing follows")
        os.kill(server.process.pid, signal.SIGTERM)
        with pytest.raises(Exception, match="1012"):
            while True:
                open_socket.recv()
    assert server.process.wait(DEADLINE_SECONDS) == 0
    assert "Traceback" not in folder.printed


def test_ctrl_c_is_an_interruption(folder: Folder) -> None:
    assert folder.start().end(signal.SIGINT) == 130
    assert "Traceback" not in folder.printed


def test_requests_that_are_under_way_are_answered_before_it_ends(folder: Folder) -> None:
    server = folder.start()
    token = folder.token("read", "edit")

    def body() -> Iterator[bytes]:
        yield b"first half, "
        os.kill(server.process.pid, signal.SIGTERM)
        wait_until(lambda: not accepts(server.port), "it still takes new connections")
        yield b"second half"

    with server.client(token) as client:
        answer = client.post("/api/blobs", content=body(), headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 200 and answer.json()["size"] == 23
    assert server.process.wait(DEADLINE_SECONDS) == 0


@pytest.mark.slow  # it waits until a server gives up waiting
def test_whoever_does_not_finish_is_not_waited_for(folder: Folder) -> None:
    server = folder.start()
    with unfinished(server.port, folder.token("read", "edit")):
        assert server.end() == 0
    assert folder.start().end() == 0


@pytest.mark.slow  # rare
def test_a_second_ctrl_c_ends_it_at_once(folder: Folder) -> None:
    server = folder.start()
    with unfinished(server.port, folder.token("read", "edit")):
        os.kill(server.process.pid, signal.SIGINT)
        wait_until(lambda: not accepts(server.port), "it does not begin to end")
        assert server.end(signal.SIGINT) == 130
    with closing(sqlite3.connect(folder.path / ".quire" / "quire.db")) as connection:
        left = connection.execute("SELECT count(*) FROM leases WHERE name = 'hold:server'").fetchone()
    assert left == (1,), "it did not even give back what it held"
    assert folder.start().end() == 0, "which is no obstacle"


def accepts(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def unfinished(port: int, token: str) -> Generator[None]:
    """A request whose body does not come."""
    with socket.create_connection(("127.0.0.1", port)) as sent:
        head = f"POST /api/blobs HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        head += "Content-Type: application/octet-stream\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
        sent.sendall(head.encode())
        assert b"100" in sent.recv(100), "it is being read"
        yield


@pytest.mark.slow  # rare
def test_on_a_terminal_the_browser_is_opened_unless_nobody_wants_that(folder: Folder) -> None:
    seen = folder.path / "seen"
    browser = folder.path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o755)
    environ = {"BROWSER": str(browser)}
    with OnTerminal(QUIRE, "serve", "--port", str(free_port()), at=folder.path, env=environ) as terminal:
        wait_until(seen.exists, "no browser was opened")
        assert seen.read_text().strip() in terminal.until(lambda screen: "Ctrl-C" in screen).replace("\n", "")
        terminal.type("\x03")
        wait_until(lambda: terminal.process.poll() is not None, "Ctrl-C does not end it")
    assert terminal.process.returncode == 130
    seen.unlink()
    words = (QUIRE, "serve", "--no-browser", "--port", str(free_port()))
    with OnTerminal(*words, at=folder.path, env=environ) as terminal:
        terminal.until(lambda screen: "Ctrl-C" in screen)
        terminal.type("\x03")
        wait_until(lambda: terminal.process.poll() is not None, "Ctrl-C does not end it")
    assert not seen.exists()


# ---- One per folder


def test_a_second_one_on_the_folder_says_where_the_first_is(shared: Folder, server: Server) -> None:
    told = shared.quire("serve", status=3)
    assert server.url in told.stderr and "--take-over" in told.stderr
    assert (shared.path / ".quire" / "serve.json").stat().st_mode & 0o777 == 0o600
    assert "quire_" not in (shared.path / ".quire" / "serve.json").read_text(), "no secret in it"


def test_nobody_from_outside_can_pretend_to_be_the_server_or_a_runtime(
    shared: Folder, server: Server, log: str
) -> None:
    with server.client(shared.token("read", "edit", "run", "admin")) as client:
        for name in ("server", f"runtime:{log}"):
            answer = client.post("/api/holds", json={"name": name, "seconds": 600})
            assert answer.status_code == 403, "it would keep others from starting"


def test_open_makes_another_address_here_and_from_afar(shared: Folder, server: Server) -> None:
    log = shared.notebook("opened.py", SALES)
    here = shared.quire("open", "opened", "--json")
    assert here["url"].startswith(f"{server.url}/#sign-in=quire_") and here["url"].endswith(f"&notebook={log}")
    afar = shared.quire("open", "--print", "--at", server.url, QUIRE_TOKEN=shared.token("read")).stdout.strip()
    with httpx.Client(base_url=server.url, headers={"Origin": server.url}) as browser:
        signed_in = browser.post("/api/sign-in", json={"token": afar.partition("#sign-in=")[2]})
        assert signed_in.json()["actor"] == "human:ada"
        browser.headers["X-Quire-Page-Key"] = signed_in.json()["page_key"]
        assert browser.get("/api/me").json()["scopes"] == ["read"], "no more than the token that asked"


def test_another_takes_over_and_the_first_ends_cleanly(folder: Folder) -> None:
    first = folder.start("--port", str(free_port()))
    second = folder.start("--take-over")
    assert first.process.wait(DEADLINE_SECONDS) == 0
    assert second.port == first.port
    assert json.loads((folder.path / ".quire" / "serve.json").read_text())["pid"] == second.process.pid
    assert second.end() == 0


def test_what_a_dead_server_left_is_no_obstacle(folder: Folder) -> None:
    folder.start().end(signal.SIGKILL)
    assert (folder.path / ".quire" / "serve.json").exists()
    told = folder.quire("open", "--print", status=2)
    assert "quire serve" in told.stderr
    assert folder.start().end() == 0


@pytest.mark.slow  # rare
def test_to_take_over_from_nobody_is_to_start(folder: Folder) -> None:
    (folder.path / ".quire").mkdir()
    # Of a process that lives, and is no server: its number is not enough for it to be ended.
    left = {"url": "http://x", "address": "http://x", "port": 1, "pid": os.getpid(), "process": "run-0-1-1"}
    (folder.path / ".quire" / "serve.json").write_text(json.dumps(left | {"version": "0", "started_at": ""}))
    assert folder.start("--take-over").end() == 0


# ---- Where it listens


def test_a_port_that_was_asked_for_and_is_taken_is_told_with_who_has_it(folder: Folder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = folder.quire("serve", "--port", str(port), status=3)
    assert f"Port {port} is taken" in told.stderr
    assert f"process {os.getpid()}" in told.stderr


@pytest.mark.slow  # rare
def test_without_one_the_next_that_is_free_is_used(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Folder(tmp_path / "other")
    try:
        first, second = folder.start(), other.start(".")
        assert first.port != second.port
        # Either may have the usual one, or neither: others test on this machine, too.
        for server, printed in ((first, folder.printed), (second, other.printed)):
            assert (f"it is {server.port} now" in printed) == (server.port != DEFAULT_PORT)
    finally:
        other.close()


def test_others_may_come_only_if_somebody_says_so(folder: Folder) -> None:
    told = folder.quire("serve", "--host", "0.0.0.0", status=3)
    assert "--public" in told.stderr
    server = folder.start("--host", "0.0.0.0", "--public", "--port", str(free_port()))
    assert server.end() == 0


def test_behind_a_proxy_it_answers_to_its_public_name_and_to_no_other(folder: Folder) -> None:
    server = folder.start("--public-url", "https://quire.example")
    assert server.url == "https://quire.example"
    assert server.told["sign_in"].startswith("https://quire.example/#sign-in=")
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7", "Origin": "https://quire.example"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=forwarded) as proxy:
        token = server.told["sign_in"].partition("#sign-in=")[2]
        assert proxy.get("/health", headers={"Host": "evil.example"}).status_code == 421
        signed_in = proxy.post("/api/sign-in", json={"token": token}, headers={"Host": "quire.example"})
        assert signed_in.status_code == 200, signed_in.text
        cookie = signed_in.headers["set-cookie"]
        assert cookie.startswith("__Host-") and "Secure" in cookie and "HttpOnly" in cookie
    assert server.end() == 0
    folder.quire("serve", "--public-url", "quire.example", status=2)
