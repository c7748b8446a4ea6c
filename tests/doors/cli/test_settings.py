"""Where a setting of a server comes from, and which has the last word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput
from quire.doors.cli.settings import read, read_runtime


def test_flags_come_before_the_environment_before_quire_toml_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.quire.serve]\nport = 1\nhost = "127.0.0.1"\nbody_bytes = 1\nbrowser_days = 1\n[tool.other]\nx = 1\n'
    )
    (tmp_path / "quire.toml").write_text("[serve]\nport = 2\nbody_bytes = 2\nrequest_burst = 2\n")
    environ = {"QUIRE_SERVE_PORT": "3", "QUIRE_SERVE_REQUEST_BURST": "3", "QUIRE_URL": "elsewhere"}
    found = read(tmp_path, environ, {"port": 4, "public": None})
    assert (found.serve.port, found.serve.public, found.serve.host) == (4, False, "127.0.0.1")
    assert (found.door.request_burst, found.door.body_bytes, found.door.browser_days) == (3, 2, 1)


def test_the_environment_says_lists_numbers_and_yes_or_no(tmp_path: Path) -> None:
    environ = {
        "QUIRE_SERVE_PROXIES": "10.0.0.1, 10.0.0.2",
        "QUIRE_SERVE_MIRROR": "false",
        "QUIRE_SERVE_RUNTIME_IDLE_MINUTES": "0.5",
    }
    found = read(tmp_path, environ, {})
    assert found.door.proxies == ("10.0.0.1", "10.0.0.2")
    assert (found.serve.mirror, found.serve.runtime_idle_minutes) == (False, 0.5)


@pytest.mark.parametrize(
    ("environ", "hint"),
    [
        ({"QUIRE_SERVE_PROT": "1"}, "port"),
        ({"QUIRE_SERVE_PORT": "http"}, "does not fit"),
        ({"QUIRE_SERVE_BODY_BYTES": "0"}, "more than 0"),
        ({"QUIRE_SERVE_STALL_SECONDS": "nan"}, "more than 0"),
        ({"QUIRE_SERVE_PORT": "70000"}, "65535"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tmp_path: Path, environ: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        read(tmp_path, environ, {})


def test_the_memory_of_kernels_is_said_in_the_same_places(tmp_path: Path) -> None:
    assert read_runtime(tmp_path, {}, None).memory_bytes is None
    (tmp_path / "pyproject.toml").write_text('[tool.quire.runtime]\nmemory = "1GB"\n')
    assert read(tmp_path, {}, {}).runtime.memory_bytes == 10**9
    (tmp_path / "quire.toml").write_text('[runtime]\nmemory = "2GB"\n')
    assert read_runtime(tmp_path, {}, None).memory_bytes == 2 * 10**9
    assert read_runtime(tmp_path, {"QUIRE_MEMORY": "3GB"}, None).memory_bytes == 3 * 10**9
    assert read(tmp_path, {"QUIRE_MEMORY": "3GB"}, {"memory": "4GB"}).runtime.memory_bytes == 4 * 10**9


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('[runtime]\nmemory = "much"\n', "quire.toml.*8GB"),
        ('[runtime]\nmemroy = "8GB"\n', "There is: memory"),
        ("runtime = 5\n", "table"),
        ('[runtimes]\nmemory = "8GB"\n', "runtime"),
    ],
)
def test_a_limit_that_nobody_understands_is_refused(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "quire.toml").write_text(text)
    with pytest.raises(BadInput, match=hint):
        read(tmp_path, {}, {})
