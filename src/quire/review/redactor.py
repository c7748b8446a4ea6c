"""What must not leave the machine: values of secrets, tokens, and where on this machine things are.

Text that we write (descriptions, comments, reports, messages) loses them. Text that somebody else wrote, the files of a
commit, is refused with them in it: to change it silently would be to commit what nobody ran.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..core.errors import Refused
from ..git.plumbing.git_call import without_credentials
from ..outputs.secrets import Remover
from .forges.find_forge import known_tokens

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|CREDENTIAL|ACCESS_?KEY", re.IGNORECASE)
_LEAST = 8
"""A shorter value stands everywhere by chance."""
_SHAPES = (
    ("a GitHub token", re.compile(r"\b(?:gh[opusr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})")),
    ("a GitLab token", re.compile(r"\bgl(?:pat|ptt|cbt|dt|rt)-[A-Za-z0-9_-]{20,}")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{32,}")),
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*-----)?")),
    ("a password in an address", re.compile(r"(?<=://)[^/\s:@'\"<>{}]+:[^/\s@'\"<>{}]{3,}(?=@)")),
)
"""Secrets that are known by their form alone."""


class Redactor:
    """Removes from text what must not leave the machine."""

    def __init__(self, top: Path, environ: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> None:
        self._top = top
        self._secrets = {**_secret_variables(environ), **known_tokens(environ), **(secrets or {})}
        self._remover = Remover(self._secrets)
        self._paths = _machine_paths(top, environ)

    def with_secrets(self, secrets: Mapping[str, str]) -> Redactor:
        """Return one that removes these as well."""
        made = Redactor(self._top, {})
        made._paths = list(self._paths)
        made._secrets = {**self._secrets, **secrets}
        made._remover = Remover(made._secrets)
        return made

    def with_folder(self, folder: Path) -> Redactor:
        """Return one to which paths inside another folder are relative as well, such as a checkout."""
        made = self.with_secrets({})
        made._paths = sorted({*self._paths, *_as_prefix(folder, "")}, key=_by_length)
        return made

    def clean(self, text: str) -> str:
        """Return text that may leave the machine."""
        text = self._remover.clean_text(without_credentials(text))
        for told, shape in _SHAPES:
            text = shape.sub(f"[{told.partition(' ')[2]}]", text)
        for path, instead in self._paths:
            if path in text:
                text = re.sub(
                    rf"{re.escape(path)}(?P<end>/|(?![\w.-]))",
                    lambda found, by=instead: _relative(by, found["end"]),
                    text,
                )
        return text

    def check_files(self, files: Mapping[str, bytes | None], before: Mapping[str, bytes | None]) -> None:
        """Refuse to commit a file that holds a secret, or that newly says where on this machine it is."""
        for path, data in files.items():
            text = (data or b"").decode("utf-8", "replace")
            if found := self._secret_in(text):
                raise Refused(
                    f"{path} holds {found}, which a commit would publish. Take it out, read it from the environment, and "
                    "propose again."
                )
            was = (before.get(path) or b"").decode("utf-8", "replace")
            if line := self._path_in(text, was):
                raise Refused(
                    f"{path}, line {line}, names a folder of this machine, which is nowhere else. Write a path that is "
                    "relative to the repository, and propose again."
                )

    def _secret_in(self, text: str) -> str | None:
        cleaned = self._remover.clean_text(text)
        if cleaned != text:
            named = (name for name, value in self._secrets.items() if Remover({name: value}).clean_text(text) != text)
            return f"the value of {next(named, 'a secret')}"
        return next((told for told, shape in _SHAPES if shape.search(text)), None)

    def _path_in(self, text: str, was: str) -> int | None:
        """The line of the first path of this machine that was not there before."""
        for path in {str(self._top), str(Path.home())} - {"/", "/root"}:
            if text.count(f"{path}/") > was.count(f"{path}/"):
                return text.count("\n", 0, text.find(f"{path}/")) + 1
        return None


def _relative(instead: str, end: str) -> str:
    if instead:
        return instead + end
    return "" if end == "/" else "."


def _by_length(pair: tuple[str, str]) -> tuple[int, str]:
    """The longest first: a folder's name begins like that of the one it is in."""
    return -len(pair[0]), pair[0]


def _secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value.strip()) >= _LEAST
    }


def _machine_paths(top: Path, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Folders of this machine and what stands for them in text, the longest first."""
    pairs = [
        *_as_prefix(top, ""),
        *_as_prefix(Path.cwd(), ""),
        *_as_prefix(Path(sys.prefix), "PYTHON"),
        *_as_prefix(Path(sys.base_prefix), "PYTHON"),
        *_as_prefix(Path(tempfile.gettempdir()), "TMP"),
        *_as_prefix(Path.home(), "~"),
    ]
    if home := environ.get("VIRTUAL_ENV"):
        pairs += _as_prefix(Path(home), "PYTHON")
    return sorted({pair for pair in pairs if pair[0].count("/") > 1 or pair[0] in ("/root", "/tmp")}, key=_by_length)  # noqa: S108


def _as_prefix(path: Path, instead: str) -> Iterable[tuple[str, str]]:
    for each in {str(path.absolute()), str(path.resolve())}:
        if each != "/":
            yield each, instead
