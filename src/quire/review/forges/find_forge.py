"""Which forge a remote is on, by its address; and the token for it, from the environment or the keyring.

A token is only ever sent to the host of the remote, and never without encryption to another machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from ...core.errors import BadInput
from ...git.plumbing.git_call import call
from ...git.plumbing.remote import Credentials, Remote
from .forge import KINDS, Forge, ForgeKind
from .forge_http import ForgeAddress

SETTING = "quire.forge"
"""The setting of git that says which forge a host runs; the environment's QUIRE_FORGE says it, too."""
API_SETTING = "quire.forgeApi"
"""The setting of git that says where its API is, where that does not follow from the remote."""
_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?P<path>[^\s]+)")
_KNOWN: tuple[tuple[str, ForgeKind], ...] = (
    ("github.com", "github"),
    ("gitlab.com", "gitlab"),
    ("codeberg.org", "gitea"),
    ("gitea.com", "gitea"),
)
_IN_NAME: tuple[tuple[str, ForgeKind], ...] = (
    ("gitea", "gitea"),
    ("forgejo", "gitea"),
    ("github", "github"),
    ("gitlab", "gitlab"),
)
TOKENS: dict[ForgeKind, tuple[str, ...]] = {
    "gitea": ("QUIRE_FORGE_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN"),
    "github": ("QUIRE_FORGE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("QUIRE_FORGE_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN"),
}
"""The variables that may hold a token, the first that is set counts."""
_OF_ONE_HOST = {
    "GITHUB_TOKEN": ("GITHUB_SERVER_URL", "github.com"),
    "GH_TOKEN": ("GH_HOST", "github.com"),
    "CI_JOB_TOKEN": ("CI_SERVER_HOST", "gitlab.com"),
}
"""Variables that others set for one host: whose name is in the second variable, or usual. It goes nowhere else."""
_KEYRING = "quire"


class RemotePlace(NamedTuple):
    """A remote's address, taken apart."""

    scheme: str
    host: str
    """With the port of the web, if it has one of its own."""
    owner: str
    repo: str


class FoundForge(NamedTuple):
    """A forge, and what git may push with."""

    client: Forge
    credentials: Credentials


def place_of(url: str) -> RemotePlace | None:
    """Take a remote's address apart; None: it is no address on a forge, such as a folder."""
    if "://" in url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "ssh", "git+ssh") or not parts.hostname:
            return None
        # The port of SSH says nothing of where the web is.
        port = f":{parts.port}" if parts.port and parts.scheme.startswith("http") else ""
        return _named(parts.scheme, parts.hostname + port, parts.path)
    found = _SCP.fullmatch(url)
    return _named("ssh", found["host"], found["path"]) if found is not None else None


def _named(scheme: str, host: str, path: str) -> RemotePlace | None:
    parts = PurePosixPath(path.removesuffix(".git")).parts
    names = [part for part in parts if part not in ("/", "~")]
    if len(names) < 2 or ".." in names:
        return None
    return RemotePlace(scheme, host, "/".join(names[:-1]), names[-1])


def kind_of(place: RemotePlace, top: Path, environ: Mapping[str, str], named: str | None = None) -> ForgeKind | None:
    """Return which forge a remote is on: as it is named, as the settings say, or by its host; None: not known."""
    said = named or environ.get("QUIRE_FORGE") or call("config", "--get", SETTING, at=top).stdout.decode().strip()
    if said:
        if said == "none":
            return None
        wanted = "gitea" if said == "forgejo" else said
        if wanted not in KINDS:
            names = f"Known: {', '.join(KINDS)}, and none for a plain remote."
            raise BadInput(f"{said!r} is no forge that is known. {names}")
        return wanted
    host = place.host.partition(":")[0]
    for name, kind in _KNOWN:
        if host == name:
            return kind
    for name, kind in _IN_NAME:
        if name in host:
            return kind
    # Gitea's runner sets the variables of GitHub's as well.
    if environ.get("GITEA_ACTIONS") == "true" and host in environ.get("GITHUB_SERVER_URL", ""):
        return "gitea"
    return None


def find_forge(remote: Remote, top: Path, environ: Mapping[str, str], named: str | None = None) -> FoundForge | None:
    """Return the forge that a remote is on; None: a plain remote, which takes branches and nothing else."""
    place = place_of(remote.url)
    kind = kind_of(place, top, environ, named) if place is not None else None
    if place is None or kind is None:
        if named not in (None, "none"):
            raise BadInput(f"{remote.shown} is no address on a forge. Name the remote that is with --remote.")
        return None
    address = _address(place, kind, call("config", "--get", API_SETTING, at=top).stdout.decode().strip())
    name, token = find_token(place.host, kind, environ)
    return FoundForge(_client(kind, address, token, name), Credentials(_USERS[kind], token))


_USERS: dict[ForgeKind, str] = {"gitea": "quire", "github": "x-access-token", "gitlab": "oauth2"}
"""The user's name that goes with a token over HTTP; forges look at the token alone."""


def _address(place: RemotePlace, kind: ForgeKind, api: str) -> ForgeAddress:
    if not api:
        scheme = place.scheme if place.scheme in ("http", "https") else "https"
        paths: dict[ForgeKind, str] = {"gitea": "/api/v1", "github": "/api/v3", "gitlab": "/api/v4"}
        is_public = kind == "github" and place.host == "github.com"
        api = "https://api.github.com" if is_public else f"{scheme}://{place.host}{paths[kind]}"
    parts = urlsplit(api)
    if parts.username or parts.password or parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"The setting {API_SETTING} is no address of an API: https://HOST/api/v1, without a user in it.")
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise BadInput(
            f"{place.host} would get the token without encryption. Use its https:// address: git remote set-url, or "
            f"git config {API_SETTING} https://…"
        )
    return ForgeAddress(api=api.rstrip("/"), host=place.host, owner=place.owner, repo=place.repo)


def find_token(host: str, kind: ForgeKind, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return where a token for a host was found, and the token."""
    for name in TOKENS[kind]:
        token = environ.get(name, "").strip()
        if token and _is_for(name, host, environ):
            return name, _checked(name, token)
    stored = _from_keyring(host)
    if stored:
        return "the keyring", _checked("the keyring", stored)
    names = " or ".join(TOKENS[kind][:2])
    raise BadInput(
        f"There is no token for {host}. Make one there that may write to the repository, and set {names}; or keep it in "
        f"the keyring: keyring set {_KEYRING} {host}."
    )


def _is_for(name: str, host: str, environ: Mapping[str, str]) -> bool:
    if name not in _OF_ONE_HOST:
        return True
    variable, usual = _OF_ONE_HOST[name]
    told = environ.get(variable, usual)
    return host == (urlsplit(told).netloc if "://" in told else told)


def _checked(name: str, token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(f"What {name} holds is no token: it has blanks or other signs in it. Set it again.")
    return token


def _from_keyring(host: str) -> str:
    try:
        import keyring  # pyright: ignore[reportMissingImports]  an extra of its own
    except ImportError:
        return ""
    try:
        found: object = cast("Any", keyring).get_password(_KEYRING, host)
    except Exception:  # a keyring that is locked, or none behind the library: each kind has errors of its own
        return ""
    return found if isinstance(found, str) else ""


def _client(kind: ForgeKind, address: ForgeAddress, token: str, name: str) -> Forge:
    # Only the one that is used is loaded.
    match kind:
        case "gitea":
            from .gitea import Gitea

            return Gitea(address, token)
        case "github":
            from .github import GitHub

            return GitHub(address, token)
        case "gitlab":
            from .gitlab import GitLab

            return GitLab(address, token, is_job=name == "CI_JOB_TOKEN")


def push_credentials(remote: Remote, top: Path, environ: Mapping[str, str]) -> Credentials | None:
    """Return a token that git may push with; None: there is none, and git's own credentials have to do."""
    place = place_of(remote.url)
    kind = kind_of(place, top, environ) if place is not None else None
    if place is None or kind is None:
        return None
    try:
        return Credentials(_USERS[kind], find_token(place.host, kind, environ)[1])
    except BadInput:
        return None


def known_tokens(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the tokens that are set, by the names of their variables: they must not get anywhere."""
    names = dict.fromkeys(name for each in TOKENS.values() for name in each)
    return {name: environ[name] for name in names if environ.get(name, "").strip()}
