"""What git calls: `python -m quire.git WHAT …`, as `install` writes it into git's settings.

Not a verb of the command line: git calls it for every command and every file it shows, so
it loads nothing but what it needs. Messages go to stderr, and git shows them.
"""

from __future__ import annotations

import sys
from typing import cast


def main(arguments: list[str]) -> int:
    """Do what git asks for, and return the exit status."""
    match arguments:
        case ["textconv", path]:
            from .textconv import textconv

            return textconv(path)
        case ["smudge", *_]:
            from shutil import copyfileobj

            copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
            return 0
        case [("filter" | "clean" | "diff" | "merge" | "hook") as what, *rest]:
            return _called(what, rest)
        case _:
            sys.stderr.write("quire: git calls this, not people. `quire git --help` tells what there is.\n")
            return 2


def _called(what: str, rest: list[str]) -> int:
    from ..core.errors import QuireError, answer

    try:
        return _call(what, rest)
    except QuireError as error:
        from ..formats.terminal_safe import plain

        sys.stderr.write(f"quire: {plain(str(error))}\n")
        return answer(error).exit_status
    except (BrokenPipeError, KeyboardInterrupt):
        # Git went away, or somebody stopped it: there is nobody left to tell.
        sys.stderr.close()
        return 130


def _call(what: str, rest: list[str]) -> int:
    if what != "hook":
        # msgspec asks for it, does without, and it takes as long to load as all of ours.
        cast("dict[str, object]", sys.modules).setdefault("typing_extensions", None)
    match what:
        case "filter" | "clean":
            from . import clean_filter

            return clean_filter.serve_standard(rest) if what == "filter" else clean_filter.clean_standard(rest)
        case "hook":
            from .generate_notebooks import hook

            return hook(rest)
        case _:
            from . import drivers

            return drivers.diff_driver(rest) if what == "diff" else drivers.merge_driver(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
