"""The tools that we are measured beside, in an environment that holds only them.

Where Jupyter Server is installed (JupyterLab, the `jupyter` package and nbdime bring it), every
import of nbformat takes ten times as long, for a library that checks addresses comes with it:
papermill, nbclient, jupytext and nbstripout start three seconds later there than alone. That is how
most people have them; so both are measured, here and beside Jupyter, and the difference is shown.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

OURS = Path(sys.executable).parent


def peers(name: str = "tools") -> Path:
    """Where the commands of these peers are."""
    found = OURS.parent / "peers" / name / "bin"
    if not (found.parent / ".ready").exists():
        raise SystemExit(f"{found.parent} is not there. `make bench` makes it; then parts can be run one by one.")
    return found


def environ() -> dict[str, str]:
    """Variables for what is measured: with compiled code kept, as on any machine where programs are installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
