"""Which interpreter and which kernel a notebook gets: real environments, real kernelspecs."""

from __future__ import annotations

import json
import os
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from quire.core.errors import BadInput, Unavailable
from quire.kernels.environments import find
from quire.kernels.kernel_protocol import Spec

from .real_kernels import said, started, text

OWN = sys.executable


def environment(at: Path, *, ipykernel: bool = True, version: str = "1.0") -> Path:
    """A real virtual environment with a package `fruit`, and with the packages of the tests if it has ipykernel."""
    venv.create(at, symlinks=True)
    (packages,) = at.glob("lib/python3*/site-packages")
    (packages / "fruit.py").write_text(f"version = {version!r}\n")
    (packages / f"fruit-{version}.dist-info").mkdir()
    (packages / f"fruit-{version}.dist-info" / "METADATA").write_text(f"Name: fruit\nVersion: {version}\n")
    if ipykernel:
        (theirs,) = Path(sys.prefix).glob("lib/python3*/site-packages")
        (packages / "theirs.pth").write_text(f"{theirs}\n")
    return at


def python(cwd: Path, **environ: str) -> Spec:
    return find("python", None, cwd=cwd, environ=environ)


def test_the_active_environment_comes_first(tmp_path: Path) -> None:
    active = environment(tmp_path / "active")
    environment(tmp_path / ".venv")
    spec = python(tmp_path, VIRTUAL_ENV=str(active), CONDA_PREFIX="/elsewhere")
    assert spec.interpreter == spec.argv[0] == str(active / "bin" / "python")
    assert (spec.name, spec.language, spec.is_ours) == ("python3", "python", True)


def test_then_the_nearest_environment_upwards(tmp_path: Path) -> None:
    environment(tmp_path / ".venv")
    inner = environment(tmp_path / "a" / ".venv")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert python(tmp_path / "a" / "b" / "c").interpreter == str(inner / "bin" / "python")


def test_then_our_own_interpreter(tmp_path: Path) -> None:
    assert python(tmp_path).interpreter == OWN


def test_a_conda_environment_counts_unless_it_is_the_base_that_is_always_active(tmp_path: Path) -> None:
    conda, near = environment(tmp_path / "conda"), environment(tmp_path / "x" / ".venv")
    chosen = python(tmp_path / "x", CONDA_PREFIX=str(conda), CONDA_DEFAULT_ENV="sales")
    assert chosen.interpreter == str(conda / "bin" / "python")
    base = {"CONDA_PREFIX": str(conda), "CONDA_DEFAULT_ENV": "base"}
    assert python(tmp_path / "x", **base).interpreter == str(near / "bin" / "python")
    assert python(tmp_path, **base).interpreter == str(conda / "bin" / "python")
    assert python(tmp_path, CONDA_PREFIX=str(tmp_path)).interpreter == OWN, "an environment without Python is none"


def test_an_active_environment_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"VIRTUAL_ENV is .*gone, where there is no Python"):
        python(tmp_path, VIRTUAL_ENV=str(tmp_path / "gone"))


def test_an_interpreter_without_ipykernel_is_refused_with_the_command_that_adds_it(tmp_path: Path) -> None:
    bare = environment(tmp_path / ".venv", ipykernel=False)
    with pytest.raises(BadInput) as caught:
        python(tmp_path)
    assert str(caught.value).endswith(f"uv pip install ipykernel --python {bare}/bin/python")


def test_what_is_no_python_is_told(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "python"
    fake.write_text("#!/bin/sh\necho no such thing >&2; exit 3\n")
    fake.chmod(0o755)
    with pytest.raises(Unavailable, match="does not answer: no such thing"):
        python(tmp_path, VIRTUAL_ENV=str(tmp_path))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make what belongs to somebody else")
def test_in_a_folder_for_everybody_only_what_is_ours_counts(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    theirs = environment(shared / ".venv")
    assert python(shared).interpreter == str(theirs / "bin" / "python")
    os.chown(theirs, 12345, 12345)
    assert python(shared).interpreter == OWN


def test_commands_in_a_cell_mean_the_environment_of_the_notebook(tmp_path: Path) -> None:
    near = environment(tmp_path / ".venv")
    spec = python(tmp_path, PATH="/usr/bin")
    assert spec.env == {"VIRTUAL_ENV": str(near), "PATH": f"{near}/bin:/usr/bin"}
    again = python(tmp_path, PATH=f"/usr/bin:{near}/bin", VIRTUAL_ENV=str(near))
    assert again.env == {"VIRTUAL_ENV": str(near)}


async def test_two_environments_each_import_their_own_version(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        environment(tmp_path / version / ".venv", version=version)
        async with started(python(tmp_path / version)) as (_, client):
            messages = await said(client, "import fruit, sys; print(fruit.version, sys.prefix)")
        assert text(messages) == f"{version} {tmp_path / version / '.venv'}\n"


# ---- Jupyter's kernelspecs


@pytest.fixture
def kernelspecs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kernelspecs that Jupyter reads, and none of the machine's own."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "jupyter" / "kernels"
    register(folder, "bash", argv=["bash-kernel", "{connection_file}", "{resource_dir}"], language="bash")
    register(folder, "ir", argv=["R", "--slave", "{connection_file}"], language="R")
    register(folder, "ir-old", argv=["R", "{connection_file}"], language="R", interrupt_mode="message")
    register(
        folder,
        "Mine",
        argv=["python3", "-Xdev", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        language="python",
    )
    return folder


def register(folder: Path, name: str, **fields: Any) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "kernel.json").write_text(json.dumps({"display_name": name} | fields))


def named(name: str | None, language: str = "python", preferred: str | None = None, **environ: str) -> Spec:
    return find(language, name, cwd=Path("/"), environ=environ, preferred=preferred)


def test_a_kernel_by_its_name_is_as_jupyter_knows_it(kernelspecs: Path) -> None:
    spec = named("bash")
    assert spec.argv == ("bash-kernel", "{connection_file}", str(kernelspecs / "bash"))
    assert (spec.name, spec.language, spec.interpreter, spec.is_ours) == ("bash", "bash", None, False)
    assert named("ir-old").interrupt_mode == "message"
    assert named("IR").name == "ir"


def test_a_registered_ipykernel_starts_as_ours_do(kernelspecs: Path) -> None:
    spec = named("mine")
    assert (spec.argv[0], spec.argv[1], spec.interpreter, spec.is_ours) == (OWN, "-Xdev", OWN, True)
    assert spec.argv[2:] == named(None).argv[1:]


def test_variables_of_a_kernelspec_may_name_others(kernelspecs: Path) -> None:
    register(kernelspecs, "with-env", argv=["x"], language="x", env={"A": "${B}/c", "D": "$E"})
    assert named("with-env", B="/b").env == {"A": "/b/c", "D": "$E"}


def test_an_unknown_kernel_is_answered_with_the_nearest(kernelspecs: Path) -> None:
    with pytest.raises(BadInput, match=r"no kernel 'bsh' here\. Did you mean bash\?") as caught:
        named("bsh")
    assert caught.value.details == {"near": ["bash"]}
    with pytest.raises(BadInput, match=r"Known: bash, ir, ir-old, mine, python3\."):
        named("zzzzz")


def test_another_language_gets_a_kernel_that_speaks_it(kernelspecs: Path) -> None:
    assert named(None, "r").name == "ir"
    assert named(None, "R", preferred="ir-old").name == "ir-old"
    assert named(None, "r", preferred="bash").name == "ir", "what the notebook names has to speak its language"
    assert named(None, "shell").name == "bash"
    with pytest.raises(BadInput, match=r"no kernel for 'julia' here\. Known: bash \(bash\)"):
        named(None, "julia")


def test_a_notebook_that_says_no_language_gets_the_kernel_that_it_names(kernelspecs: Path) -> None:
    assert named(None, preferred="ir").name == "ir"
    assert named(None, preferred="mine").interpreter == OWN, "of Python, that of the environment is taken"
    assert named(None, preferred="elsewhere").interpreter == OWN
    assert named(None, preferred="python3").interpreter == OWN


def test_kernels_are_found_wherever_jupyter_looks(
    kernelspecs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(tmp_path / ".local" / "share" / "jupyter" / "kernels", "of-the-user", argv=["x"], language="x")
    assert named("of-the-user").name == "of-the-user"
    register(tmp_path / "data" / "kernels", "of-the-data", argv=["x"], language="x")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    assert named("of-the-data").name == "of-the-data"
    register(tmp_path / ".local" / "share" / "jupyter" / "kernels", "bash", argv=["other"], language="bash")
    assert named("bash").argv[0] == "bash-kernel", "JUPYTER_PATH comes first"


def test_kernels_of_the_active_environment_come_before_others_of_the_same_name(
    kernelspecs: Path, tmp_path: Path
) -> None:
    active = environment(tmp_path / "active")
    argv = ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}", "{prefix}"]
    register(active / "share" / "jupyter" / "kernels", "mine", argv=argv, language="python")
    spec = named("mine", VIRTUAL_ENV=str(active))
    assert spec.interpreter == str(active / "bin" / "python")
    assert str(active) in spec.argv


def test_a_kernel_that_cannot_be_started_from_here_is_named(kernelspecs: Path) -> None:
    metadata = {"kernel_provisioner": {"provisioner_name": "far-away"}}
    register(kernelspecs, "remote", argv=["x"], language="x", metadata=metadata)
    with pytest.raises(BadInput, match="'remote' is started by 'far-away'"):
        named("remote")
    register(kernelspecs, "empty", argv=[], language="x")
    with pytest.raises(BadInput, match=r"'empty': .* names no command"):
        named("empty")


def test_a_broken_kernelspec_stands_in_nobody_elses_way(kernelspecs: Path) -> None:
    (kernelspecs / "bash" / "kernel.json").write_text("{")
    assert named(None, "r").name == "ir"
    with pytest.raises(BadInput, match=r"Kernel 'bash': .*kernel\.json cannot be read"):
        named("bash")


def test_python3_is_known_without_being_registered(kernelspecs: Path, tmp_path: Path) -> None:
    active = environment(tmp_path / "active")
    assert named("python3", VIRTUAL_ENV=str(active)).interpreter == str(active / "bin" / "python")
