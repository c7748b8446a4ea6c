"""Kernels for languages other than Python, registered where only a test looks.

bash and Deno come as wheels, R from the system (`make test` sees to both).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
DENO = str(BIN / "deno")
KERNELS: dict[str, dict[str, Any]] = {
    "bash": {
        "argv": [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"],
        "display_name": "Bash",
        "language": "bash",
    },
    "deno": {
        "argv": [DENO, "jupyter", "--kernel", "--conn", "{connection_file}"],
        "display_name": "Deno",
        "language": "typescript",
        # Nobody here wants to know of newer versions.
        "env": {"DENO_NO_UPDATE_CHECK": "1"},
    },
    "ir": {
        "argv": ["R", "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"],
        "display_name": "R",
        "language": "R",
    },
}


def register(folder: Path) -> dict[str, str]:
    """Write the kernelspecs below `folder`, and return the variables with which Jupyter finds them."""
    for name, spec in KERNELS.items():
        place = folder / "kernels" / name
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(json.dumps(spec))
    return {"JUPYTER_PATH": str(folder)}
