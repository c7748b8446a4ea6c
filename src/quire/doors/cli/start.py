"""Where the `quire` command begins: before anything is loaded that takes long."""

from __future__ import annotations

import sys
from typing import NoReturn

_RUNS_NO_PYTHON = frozenset(
    ("-h", "--help", "--help-notebook", "--prepare-only", "-k", "--kernel", "--resume", "--static")
)


def main() -> NoReturn:
    """Run the command line; of `quire run` and `quire check`, have the kernel load meanwhile."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["run"], ["check"]) and len(arguments) > 1 and not _RUNS_NO_PYTHON.intersection(arguments):
        from ...kernels.process import prestart

        prestart.begin()
    from .main import main as main_of_verbs

    main_of_verbs()
