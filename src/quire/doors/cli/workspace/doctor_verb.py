"""`quire doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import click

from ....core.errors import QuireError
from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted, print_json
from ..workspace_command import at_option
from .doctor_finding import DoctorFinding, fault

_COLOURS = {"ok": "green", "warning": "yellow", "fault": "red"}


@click.command("doctor", epilog=EXIT_STATUS)
@at_option
@json_option
def doctor_verb(at: str | None, as_json: bool) -> int:
    """Say what is wrong with this installation and this workspace, and what to do about it. Exit 1 on a fault.

    \b
      quire doctor

    Looks and changes nothing. Each line is ok, a warning or a fault; what to do stands under it. With --json, an object with
    all findings.
    """
    found = [finding for look in _looks(at) for finding in _looked(*look)]
    faults = sum(finding.state == "fault" for finding in found)
    warnings = sum(finding.state == "warning" for finding in found)
    if as_json:
        print_json({"faults": faults, "warnings": warnings, "findings": found})
        return int(bool(faults))
    for finding in found:
        _echo(finding)
    click.echo(f"{counted(faults, 'fault')}, {counted(warnings, 'warning')}", err=True)
    return int(bool(faults))


def _looks(at: str | None) -> list[tuple[str, Callable[[], Iterable[DoctorFinding]]]]:
    from ..server.server_workspace import ServerWorkspace, place_of
    from .doctor_installation import look_at_git, look_at_kernels, look_at_packages, look_at_python, look_at_settings
    from .doctor_workspace import look_at_address, look_at_folder, look_at_server, look_at_store

    looks: list[tuple[str, Callable[[], Iterable[DoctorFinding]]]] = [
        ("python", look_at_python),
        ("packages", look_at_packages),
    ]
    if at is not None and at.partition("://")[0] in ("http", "https"):
        return [*looks, ("server", lambda: look_at_address(at))]
    try:
        place: ServerWorkspace = place_of(at, make=False)
    except QuireError as error:
        told = str(error)
        return [*looks, ("workspace", lambda: [fault("workspace", told)])]
    return [
        *looks,
        ("workspace", lambda: look_at_folder(place)),
        ("store", lambda: asyncio.run(look_at_store(place))),
        ("server", lambda: look_at_server(place)),
        ("kernels", lambda: look_at_kernels(place.home)),
        ("git", lambda: look_at_git(place.home)),
        ("settings", lambda: look_at_settings(place.home)),
    ]


def _looked(area: str, look: Callable[[], Iterable[DoctorFinding]]) -> Iterable[DoctorFinding]:
    """One part that cannot even be looked at is a finding; the others are looked at all the same."""
    try:
        return list(look())
    except (QuireError, OSError) as error:
        return [fault(area, str(error))]


def _echo(finding: DoctorFinding) -> None:
    state = click.style(finding.state.ljust(7), fg=_COLOURS[finding.state])
    click.echo(f"{state}  {finding.area.ljust(9)}  {plain(finding.what)}")
    if finding.next:
        click.echo(f"{'':20}→ {plain(finding.next)}")
