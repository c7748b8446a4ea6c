"""`quire diff BASE...HEAD [PATH] --review`: the same difference on a page on which people and agents discuss it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from urllib.parse import quote

import click

from ....core.errors import BadInput
from ..browser import show
from ..printer import print_json


def review(words: tuple[str, ...], *, as_json: bool) -> None:
    """Open the review of a branch, or of one of its files, and say where it is."""
    base, head, path = _subject(words)
    log, url = asyncio.run(_opened(base, head, path))
    if as_json:
        print_json({"review": log, "url": url})
    elif url is None:
        click.echo(f"{log}\nNo server shows it yet. Start one: `quire serve`, then open /reviews/{log}.")
    else:
        click.echo(url)
        if sys.stdout.isatty():
            show(url)


def _subject(words: tuple[str, ...]) -> tuple[str, str, str]:
    match words:
        case (revisions, *paths) if "..." in revisions and len(paths) < 2:
            base, _, head = revisions.partition("...")
            return _revision(base), _revision(head), next(iter(paths), "")
        case _:
            told = "--review compares a revision with where that left another: all notebooks, or one"
            raise BadInput(f"{told}: `quire diff main...HEAD --review`, `quire diff main...HEAD sales.ipynb --review`.")


def _revision(name: str) -> str:
    """The name by which everybody finds the same review: what HEAD is today, it is not tomorrow."""
    if name not in ("", "HEAD"):
        return name
    from ....git.plumbing.branches import current_branch, the_commit
    from ....git.repository import the_repository

    top = the_repository(Path.cwd()).top
    return current_branch(top) or the_commit("HEAD", top)


async def _opened(base: str, head: str, path: str) -> tuple[str, str | None]:
    from ....actors.mirror.file_paths import path_in
    from ....connection import connect
    from ....core.events import RevisionsSubject
    from ....verbs.answers.answer import Here
    from ....verbs.reviews.open_review import open_review
    from ....workspace.server_file import read
    from ..server.server_workspace import place_of

    place = place_of(None)
    workspace = await connect(place.where)
    try:
        here = Here(workspace=workspace, folder=place.home)
        file = path_in(place.home, Path(path).absolute()) if path else ""
        subject = RevisionsSubject(path=file, base=base, head=head)
        log = (await open_review(here, subject)).log
        served = read(place.state)
        if served is None or served.is_gone:
            return log, None
        secret = (await workspace.create_sign_in()).secret
        # In the fragment, which no browser sends to any server.
        return log, f"{served.url.rstrip('/')}/reviews/{quote(log)}#sign-in={quote(secret)}"
    finally:
        await workspace.close()
