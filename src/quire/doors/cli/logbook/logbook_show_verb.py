"""`quire logbook show`."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import NotFound
from ....core.notebook.logbook_record import logbook_of, run_or_logbook, steps_of, tally_of
from ....core.params.parameters import as_json as parameter_json
from ....formats.logbook.run_export import log_of
from ....formats.terminal_safe import plain
from ....logbooks.export_file import export_text
from ....logbooks.template_files import Template, find_template, path_from, read_template
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, table
from ..run.params_verb import row_of
from ..workspace_command import names_of_logs, with_workspace
from .template_verbs import logbook_root


@click.command("show", epilog=EXIT_STATUS)
@click.argument("what", metavar="TEMPLATE|RUN", shell_complete=names_of_logs)
@with_workspace
async def show_verb(workspace: Workspace, what: str, as_json: bool) -> None:
    """Print what a TEMPLATE takes and its steps; or a RUN (an id, a UUID or its file) as the file that it leaves.

    \b
      quire logbook show EXAMPLE_TEMPLATE
      quire logbook show 01M7GFVPH9

    With --json, an object: of a run with each of its steps and how that was answered.
    """
    root = logbook_root()
    try:
        file = find_template(root, what, Path.cwd())
    except NotFound:
        await _show_run(workspace, root, what, as_json=as_json)
        return
    if (log := log_of(file.stem)) is not None and await _is_known(workspace, log):
        await _show_run(workspace, root, log, as_json=as_json)
        return
    _show_template(read_template(root, file), as_json=as_json)


async def _is_known(workspace: Workspace, log: str) -> bool:
    try:
        await workspace.find(log)
    except NotFound:
        return False
    return True


async def _show_run(workspace: Workspace, root: Path, what: str, *, as_json: bool) -> None:
    info = await workspace.find(log_of(Path(what).stem) or what)
    now = await workspace.read(info.log)
    mark, run = logbook_of(now), run_or_logbook(now)
    if mark is None or run is None:
        raise NotFound(f"{what} is no template, and no run of a logbook. `quire logbook list` lists the templates.")
    if not as_json:
        click.echo(plain(await export_text(workspace, info.log, now)), nl=False)
        return
    steps = steps_of(now)
    file = path_from(Path.cwd(), root / mark.export) if mark.export is not None else None
    print_json(
        {"run": info.log, "status": run.status, "file": file, "logbook": mark, "tally": tally_of(steps), "steps": steps}
    )


def _show_template(template: Template, *, as_json: bool) -> None:
    from ....logbooks.template_check import step_lines

    if as_json:
        parameters = [parameter_json(each) for each in template.parameters]
        told = {"template": template.name, "path": template.path, "title": template.title, "parameters": parameters}
        print_json(told | {"steps": step_lines(template)})
        return
    click.echo(plain(f"{template.path}: {template.title}"))
    if template.parameters:
        click.echo("")
        click.echo(table(("name", "type", "default", "help"), [row_of(each) for each in template.parameters]))
    click.echo("")
    for number, line in enumerate(step_lines(template), 1):
        click.echo(plain(f"{number:>3}  {line}"))
