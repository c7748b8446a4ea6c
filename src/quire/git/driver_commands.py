"""The commands that git's settings hold for notebooks. They outlive the environment that they call.

An environment may be removed while a clone still names its Python. Git would then refuse to add, switch or even show the
status of notebooks (`required`), so each command looks first: without its Python it says so, on stderr, and treats notebooks
as git treats files that it knows nothing of. All of it is POSIX shell, for nothing else is sure to be there.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from ..kernels.kernel_environment import python_command

GONE = "git treats notebooks as plain text"
"""Part of what the commands say where their Python is gone."""

# Git's protocol for a filter that stays: packets with their length in four hexadecimal digits, 0000 ends a list. It
# writes a file whole before it reads, so that what goes back unchanged has to wait in a file.
_WITHOUT_QUIRE = r"""
t=$(mktemp) || exit 1
trap 'rm -f "$t"' EXIT
if dd iflag=fullblock count=0 </dev/null >/dev/null 2>&1
then take() { dd bs="$1" count=1 iflag=fullblock 2>/dev/null; }
else take() { dd bs=1 count="$1" 2>/dev/null; }
fi
packet() { h=$(take 4); [ -n "$h" ] || exit 0; n=$((0x$h)); [ "$n" -gt 4 ]; }
skip() { while packet; do take $((n - 4)) >/dev/null; done; }
skip; printf '0016git-filter-server\n000eversion=2\n0000'
skip; printf '0015capability=clean\n0016capability=smudge\n0000'
while :; do
skip
while packet; do printf %s "$h"; take $((n - 4)); done >"$t"
printf '0013status=success\n0000'; cat "$t"; printf '00000000'
done"""


def process_command(rules: str) -> str:
    """The filter that stays for all notebooks of one git command."""
    return f"{_if_there()} exec {_call('filter', rules)}; fi; {_told()}{_WITHOUT_QUIRE}"


def clean_command(rules: str) -> str:
    """The filter for one notebook that is recorded. Git replaces `%f` by its path."""
    there, call, told = (text.replace("%", "%%") for text in (_if_there(), _call("clean"), _told()))
    return f"{there} exec {call} %f {shlex.quote(rules).replace('%', '%%')}; fi; {told}; cat"


def smudge_command() -> str:
    """The filter for one notebook that is checked out."""
    return f"{_if_there()} exec {_call('smudge')}; fi; {_told()}; cat".replace("%", "%%")


def diff_command(rules: str) -> str:
    """What compares two notebooks for a person. Anything but 0 would end `git diff` at the first one."""
    plain = 'if [ $# -gt 1 ]; then diff -u --label "a/$1" --label "b/$1" "$2" "$5" || :; fi'
    return f'f() {{ {_if_there()} {_call("diff", rules)} "$@"; else {_told()}; {plain}; fi; }}; f'


def textconv_command() -> str:
    """What makes a notebook text, for git's own comparison."""
    return f'f() {{ {_if_there()} {_call("textconv")} "$@"; else {_told()}; cat "$1"; fi; }}; f'


def merge_command() -> str:
    """What merges three notebooks. Git replaces the words that begin with `%`."""
    there, call, told = (text.replace("%", "%%") for text in (_if_there(), _call("merge"), _told()))
    return f"{there} {call} %O %A %B %L %P; else {told}; git merge-file --marker-size=%L %A %O %B; fi"


def _call(*arguments: str) -> str:
    # This Python, not whatever is called so.
    return shlex.join(python_command("quire.git", *arguments))


def _if_there() -> str:
    package = Path(__file__).parent
    return f"if [ -x {shlex.quote(sys.executable)} ] && [ -d {shlex.quote(str(package))} ]; then"


def _told() -> str:
    text = (
        f"quire: {sys.executable} has no quire any more, so {GONE}: their outputs are recorded with them. Run `quire git "
        "install` with a quire that is there, or have git forget it: git config --remove-section filter.quire; the same "
        "for diff.quire and merge.quire."
    )
    return f"echo {shlex.quote(text)} >&2"
