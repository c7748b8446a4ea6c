"""`quire open`."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from ....core.errors import NotFound
from .. import EXIT_STATUS
from ..browser import show, sign_in_url
from ..options import json_option
from ..printer import print_json
from ..workspace_command import at_option, names_of_logs


@click.command("open", epilog=EXIT_STATUS)
@click.argument("notebook", required=False, shell_complete=names_of_logs)
@click.option("--print", "only_print", is_flag=True, help="Print the address, and open no browser.")
@at_option
@json_option
def open_verb(notebook: str | None, only_print: bool, at: str | None, as_json: bool) -> None:
    """Open the workspace that `quire serve` serves, or a NOTEBOOK in it, signed in.

    \b
      quire open sales
      quire open --print

    Prints an address that signs one browser in, as whoever asks for it: once, within 5 minutes. On a terminal it is opened,
    too. With --at http(s)://…, at that server, as the bearer of QUIRE_TOKEN.
    """
    url, log = asyncio.run(_address(at, notebook))
    if as_json:
        print_json({"url": url, "notebook": log})
    else:
        click.echo(url)
    if not only_print and not as_json and sys.stdout.isatty():
        show(url)


async def _address(at: str | None, notebook: str | None) -> tuple[str, str | None]:
    from ....connection import connect

    where, url = _server(at or os.environ.get("QUIRE_URL", ""))
    workspace = await connect(where)
    try:
        log = (await workspace.find(notebook)).log if notebook is not None else None
        return sign_in_url(url, (await workspace.create_sign_in()).secret, log), log
    finally:
        await workspace.close()


def _server(given: str) -> tuple[str, str]:
    """What to connect to, and what people open."""
    from ....workspace.server_file import read
    from .server_workspace import place_of

    if given.partition("://")[0].lower() in ("http", "https"):
        return given, given
    place = place_of(given or None, make=False)
    told = read(place.state)
    if told is None or told.is_gone:
        raise NotFound(f"{place.shown} is not served. Start a server: `quire serve {place.home}`.")
    return place.where, told.url
