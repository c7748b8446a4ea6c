"""Where notebooks come from and go to: files, buckets on a real S3 server, the web on loopback."""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

from quire.core.errors import BadInput, NotFound, QuireError, Unavailable
from quire.runs.locations import check_place, is_remote, read_place, shown, write_place
from quire.stores.remote_file import PART

from ..command import run_process as run
from ..object_storage import ACCESS_KEY, SECRET_KEY, S3Server
from .web_server import Web, serving

NOTEBOOK = "# %% [markdown]\n# Sales: größer\n\n# %%\nprint('hello')\n"


@pytest.fixture
def server(s3: S3Server) -> S3Server:
    return s3


@pytest.fixture
def bucket(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket, and the settings by which it is found."""
    for name, value in settings(server.port).items():
        monkeypatch.setenv(name, value)
    return server.bucket()


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as web:
        yield web


def settings(port: int) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_ALLOW_HTTP": "true",
    }


async def told(attempt: Any, kind: type[QuireError]) -> str:
    """What somebody sees who tries in vain: with the traceback, and without a credential."""
    with pytest.raises(kind) as caught:
        await attempt
    whole = "".join(traceback.format_exception(caught.value))
    for secret in (ACCESS_KEY, SECRET_KEY, "s3cret"):
        assert secret not in whole
    return str(caught.value)


# ---- Addresses


@pytest.mark.parametrize(
    ("place", "seen"),
    [
        ("runs/a.ipynb", "runs/a.ipynb"),
        ("what?.ipynb", "what?.ipynb"),
        ("-", "-"),
        ("s3://bucket/runs/a.ipynb", "s3://bucket/runs/a.ipynb"),
        ("s3://key:s3cret@bucket/a.ipynb", "s3://bucket/a.ipynb"),
        ("https://host/a.ipynb?X-Amz-Signature=s3cret", "https://host/a.ipynb"),
        ("https://host/a.ipynb?mail=a@b#s3cret", "https://host/a.ipynb"),
        ("https://me:s3cret@host:8443/v@1/a.ipynb", "https://host:8443/v@1/a.ipynb"),
        ("https://me:s3/cret@host/a.ipynb", "https://…"),
        ("ftp://me:s3cret@host/a.ipynb", "ftp://host/a.ipynb"),
    ],
)
def test_a_place_is_shown_without_what_may_be_secret(place: str, seen: str) -> None:
    assert shown(place) == seen
    assert is_remote(place) == ("://" in place)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("ftp://me:s3cret@host/a.ipynb", "ftp://host/a.ipynb: nothing can be read or written there"),
        ("s3://key:s3cret@bucket/a.ipynb", "s3://bucket/a.ipynb: only bucket and path belong into the address"),
        ("s3://bucket/a.ipynb?versionId=s3cret", "For the rest, set AWS_ACCESS_KEY_ID"),
        ("s3://bucket", "s3://bucket names no file. Write s3://bucket/folder/name.ipynb"),
        ("s3://bucket/folder/", "names no file"),
        ("s3://bucket/../a.ipynb", "names no file"),
        ("https://me:s3/cret@host/a.ipynb", "https://… is no address"),
        ("https:///a.ipynb", "is no address"),
        ("https://host:99999/a.ipynb?sig=s3cret", "is no address"),
        ("http://example.com/a.ipynb?sig=s3cret", "http is not encrypted"),
        ("http://127.0.0.1.example.com/a.ipynb", "set QUIRE_ALLOW_HTTP=1"),
    ],
)
async def test_an_address_of_no_use_is_refused_without_repeating_what_is_secret(place: str, said: str) -> None:
    for attempt in (read_place(place), write_place(place, "x"), check_place(place)):
        assert said in await told(attempt, BadInput)


# ---- Files


async def test_a_file_is_written_whole_and_its_folders_are_made_when_it_is_checked(tmp_path: Path) -> None:
    place = str(tmp_path / "new" / "folder" / "a.py")
    assert "there is no folder" in await told(write_place(place, NOTEBOOK), NotFound)
    await check_place(place)
    await write_place(place, NOTEBOOK)
    assert await read_place(place) == NOTEBOOK
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["a.py"]
    assert "is not there" in await told(read_place(f"{place}x"), NotFound)
    assert "is a folder. Name a file in it." in await told(check_place(str(tmp_path / "new")), BadInput)
    assert "a file is in the way" in await told(check_place(f"{place}/b.ipynb"), BadInput)


# ---- Buckets


async def test_a_notebook_goes_into_a_bucket_and_comes_back(bucket: str, server: S3Server) -> None:
    place = f"s3://{bucket}/2026/größe %20 a+b.py"
    assert "is not there" in await told(read_place(place), NotFound)
    await check_place(place)
    await write_place(place, NOTEBOOK)
    assert await read_place(place) == NOTEBOOK
    large = "".join(f"# {number}\n" for number in range(2 * PART // 8))
    await write_place(f"s3://{bucket}/large.py", large)
    assert await read_place(f"s3://{bucket}/large.py") == large
    assert "größe %20 a+b.py" in server.ask("GET", f"/{bucket}?list-type=2")


async def test_a_bucket_that_is_not_there_is_named(bucket: str) -> None:
    place = "s3://no-such-bucket/a.ipynb"
    for attempt in (read_place(place), write_place(place, "x"), check_place(place)):
        message = await told(attempt, NotFound)
        assert message == f"{place}: there is no such bucket. Create it, or correct the address."


async def test_bytes_that_are_no_text_are_told_with_their_place(bucket: str, server: S3Server) -> None:
    server.ask("PUT", f"/{bucket}/a.py", b"x = 1\n\xff\n")
    message = await told(read_place(f"s3://{bucket}/a.py"), BadInput)
    assert message == f"s3://{bucket}/a.py: line 2, byte 6 is not UTF-8 text. Is it a notebook?"


async def test_refused_credentials_say_nothing_of_themselves_and_may_still_write(server: S3Server, bucket: str) -> None:
    place = f"s3://{bucket}/a.ipynb"
    with server.looking_at_credentials():
        for attempt in (read_place(place), write_place(place, "x")):
            assert f"{place}: these credentials were refused (403" in await told(attempt, Unavailable)
        await check_place(place)


async def test_a_network_that_is_away_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for name, value in settings(unused.getsockname()[1]).items():
            monkeypatch.setenv(name, value)
        message = await told(check_place("s3://bucket/a.ipynb"), Unavailable)
    assert message.startswith("s3://bucket/a.ipynb: it cannot be reached (connection refused). Check the network")


async def test_googles_and_azures_addresses_reach_their_servers_with_settings_from_the_environment(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in that keeps what is put there: which requests come is theirs, and all that a small file needs."""
    base = web.url("")
    key = {"gcs_base_url": base, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    (tmp_path / "key.json").write_text(json.dumps(key))
    for name, value in {
        "GOOGLE_SERVICE_ACCOUNT": str(tmp_path / "key.json"),
        "GOOGLE_ALLOW_HTTP": "true",
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": base,
        "AZURE_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    for place in ("gs://bucket/runs/a.py", "az://container/runs/a.py"):
        await check_place(place)
        assert "is not there" in await told(read_place(place), NotFound)
        await write_place(place, NOTEBOOK)
        assert await read_place(place) == NOTEBOOK
    assert sorted(web.files) == ["/bucket/runs%2Fa%2Epy", "/devstoreaccount1/container/runs/a.py"]


# ---- The web


async def test_a_notebook_is_read_from_the_web_and_put_there(web: Web) -> None:
    await check_place(web.url("/runs/a.html"))
    await write_place(web.url("/runs/größe%201.html?sig=s3cret%2F1"), NOTEBOOK)
    assert web.files == {"/runs/gr%C3%B6%C3%9Fe%201.html": NOTEBOOK.encode()}
    assert set(web.media.values()) == {"text/html; charset=utf-8"}
    assert await read_place(web.url("/runs/gr%C3%B6%C3%9Fe%201.html?sig=s3cret", user="me:s3%2Fcret@")) == NOTEBOOK
    (put, get) = web.asked
    assert put == ("PUT", "/runs/gr%C3%B6%C3%9Fe%201.html?sig=s3cret%2F1", "")
    assert get == ("GET", "/runs/gr%C3%B6%C3%9Fe%201.html?sig=s3cret", "Basic bWU6czMvY3JldA==")


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("/missing.ipynb", NotFound, "is not there. Look for a typing error in the address."),
        ("/forbidden.ipynb", Unavailable, "the server refused it (403)"),
        ("/chunked.ipynb", Unavailable, "the server does not say how long it is"),
        ("/endless.ipynb", BadInput, "is larger than 100 MB"),
        ("/elsewhere.ipynb", Unavailable, "it cannot be reached"),
    ],
)
async def test_what_the_web_answers_is_told_in_our_words(
    web: Web, path: str, kind: type[QuireError], said: str
) -> None:
    message = await told(read_place(web.url(f"{path}?sig=s3cret", user="me:s3cret@")), kind)
    assert message.startswith(web.url(path))
    assert said in message


async def test_a_server_that_takes_no_files_is_named(web: Web) -> None:
    message = await told(write_place(web.url("/reading/a.ipynb"), "x"), Unavailable)
    assert message.startswith(f"{web.url('/reading/a.ipynb')}: the server takes no files there (405)")


async def test_plain_http_goes_further_than_loopback_only_where_that_is_said(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.files["/a.py"] = NOTEBOOK.encode()
    place = web.url("/a.py", host="0.0.0.0")  # this machine, and no loopback address
    assert "http is not encrypted" in await told(read_place(place), BadInput)
    assert await read_place(web.url("/a.py", host="localhost")) == NOTEBOOK
    monkeypatch.setenv("QUIRE_ALLOW_HTTP", "1")
    assert await read_place(place) == NOTEBOOK


# ---- Runs


def book(data: bytes) -> Any:
    read: Any = cast("Any", nbformat).reads(data.decode(), as_version=4)
    cast("Any", nbformat).validate(read)
    return read


def test_a_notebook_in_a_bucket_runs_into_the_bucket_and_from_the_web_into_a_page(
    bucket: str, server: S3Server, web: Web, tmp_path: Path
) -> None:
    server.ask("PUT", f"/{bucket}/sales.py", NOTEBOOK.encode())
    web.files["/sales.py"] = NOTEBOOK.encode()
    done = run(
        "run", f"s3://{bucket}/sales.py", f"s3://{bucket}/out/a.ipynb", "--json", at=tmp_path, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["status"], outcome["output"]) == ("success", f"s3://{bucket}/out/a.ipynb")
    made = book(server.ask("GET", f"/{bucket}/out/a.ipynb").encode())
    assert made.cells[1].outputs[0].text == "hello\n"
    assert made.metadata.papermill.input_path == f"s3://{bucket}/sales.py"
    page = web.url("/out.html?sig=s3cret", user="me:s3cret@")
    done = run("run", web.url("/sales.py?sig=s3cret"), page, "--json", at=tmp_path)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["output"] == web.url("/out.html")
    assert "hello" in web.files["/out.html"].decode()
    log = run("log", outcome["run"], "--json", at=tmp_path).stdout
    assert web.url("/sales.py") in log
    for text in (log, done.stdout, done.stderr, web.files["/out.html"].decode()):
        assert "s3cret" not in text


@pytest.mark.parametrize("failing", ["answer 500", pytest.param("cut", marks=pytest.mark.slow)])
def test_storage_that_fails_halfway_leaves_the_last_whole_version_and_the_run_in_its_log(
    web: Web, tmp_path: Path, failing: Any
) -> None:
    (tmp_path / "sales.py").write_text(NOTEBOOK)
    web.good_puts, web.failing = 1, failing
    place = web.url("/out.ipynb")
    done = run("run", "sales.py", f"{place}?sig=s3cret", "--json", at=tmp_path)
    assert done.returncode == 4, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["status"] == "success"
    why = "the server answered 500" if failing == "answer 500" else "it cannot be reached (connection lost)"
    assert f"{place}: {why}" in done.stderr
    assert outcome["output_fault"] in done.stderr
    assert f"`quire export {outcome['run']} FILE`" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout
    # The first version that went there: whole, and nothing had run.
    assert [cell.metadata.papermill.status for cell in book(web.files["/out.ipynb"]).cells] == ["pending"] * 2
    assert run("verify", at=tmp_path).returncode == 0
    assert run("export", outcome["run"], "a.ipynb", at=tmp_path).returncode == 0
    assert book((tmp_path / "a.ipynb").read_bytes()).cells[1].outputs[0].text == "hello\n"


def test_what_cannot_be_read_or_written_is_told_before_the_first_cell(web: Web, tmp_path: Path) -> None:
    (tmp_path / "sales.py").write_text("# %%\nopen('ran', 'w').close()\n")
    for args, status, said in (
        ([web.url("/missing.py")], 2, "is not there"),
        (["sales.py", "s3://bucket//a.ipynb"], 2, "names no file"),
        (["sales.py", "http://example.com/a.ipynb"], 2, "http is not encrypted"),
        (["sales.py", "sales.py/a.ipynb"], 2, "a file is in the way"),
    ):
        done = run("run", *args, at=tmp_path)
        assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert not (tmp_path / "ran").exists()
    assert json.loads(run("sql", "select * from runs", "--json", at=tmp_path).stdout) == []
