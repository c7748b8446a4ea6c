"""A workspace that an older Quire wrote. README.md says what is in it and how it was made."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def old_workspace(folder: Path) -> dict[str, Any]:
    """Lay the old workspace out in a folder; return what `known.json` says: secrets of tokens, ids of logs."""
    shutil.copytree(HERE / "files", folder, dirs_exist_ok=True)
    place = folder / ".quire"
    place.mkdir(mode=0o700)
    if (HERE / "blobs").is_dir():
        shutil.copytree(HERE / "blobs", place / "blobs")
    connection = sqlite3.connect(place / "quire.db")
    connection.executescript((HERE / "quire.sql").read_text())
    connection.close()
    return json.loads((HERE / "known.json").read_text())
