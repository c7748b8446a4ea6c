"""The `quire` command: finds the verb, and turns errors into messages and exit statuses."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from ...core.errors import QuireError, answer
from ...kernels.kernel_environment import hide_variables
from . import EXIT_STATUS

# name -> (module, what `quire --help` says). Only the module of the verb that is used is imported.
VERBS: dict[str, tuple[str, str]] = {
    "init": ("workspace.init_verb", "Make a workspace in a folder."),
    "serve": ("server.serve_verb", "Serve a workspace to browsers and programs."),
    "open": ("server.open_verb", "Open a served workspace in the browser."),
    "doctor": ("workspace.doctor_verb", "Say what is wrong with this installation."),
    "run": ("run.run_verb", "Run a notebook with parameters and keep the record."),
    "cancel": ("run.run_verb", "Ask a run to stop."),
    "runs": ("run.runs_verb", "List runs, look at one, compare two."),
    "reproduce": ("run.reproduce_verb", "Run a recorded run again, and say what is not the same."),
    "schedule": ("schedule.schedule_verb", "Run notebooks by the clock."),
    "scheduler": ("schedule.scheduler_verb", "Begin runs when their schedules are due."),
    "logbook": ("logbook.logbook_verb", "Write logbooks, and run them."),
    "edit": ("notebook.edit_verb", "Change what cells say."),
    "undo": ("notebook.undo_verb", "Take back all that one actor did, and keep the rest."),
    "execute": ("notebook.execute_verb", "Run cells, or other code, in a living kernel."),
    "wait": ("notebook.wait_verb", "Wait for what runs, or for an answer."),
    "interrupt": ("notebook.interrupt_verb", "Stop what runs in a notebook."),
    "restart": ("notebook.restart_verb", "Give a notebook a new kernel."),
    "output": ("notebook.output_verb", "Print all that a cell showed."),
    "results": ("run.results_verb", "List what notebooks and runs recorded."),
    "log": ("notebook.log_verb", "Print what happened, event by event."),
    "show": ("notebook.show_verb", "Print a notebook as it is, or as it was."),
    "sql": ("workspace.sql_verb", "Ask a question over all that was recorded."),
    "verify": ("workspace.verify_verb", "Check that logs are what was recorded."),
    "redact": ("workspace.redact_verb", "Mask what an event said, for good."),
    "bind": ("files.mirror_verb", "Make a notebook and a file one."),
    "mirror": ("files.mirror_verb", "Keep notebooks and their files the same."),
    "conflicts": ("files.conflicts_verb", "Decide where a notebook and its file disagree."),
    "archive": ("notebook.archive_verb", "Put a notebook away, or take it out again."),
    "convert": ("files.convert_verb", "Write notebooks in another format."),
    "params": ("run.params_verb", "List the parameters of a notebook."),
    "strip": ("files.strip_verb", "Remove outputs from notebooks."),
    "check": ("files.check_verb", "Run notebooks, and compare with what is stored."),
    "diff": ("files.diff_verb", "Show how two notebooks differ, cell by cell."),
    "patch": ("files.patch_verb", "Apply a difference to a notebook."),
    "merge": ("files.merge_verb", "Merge two versions of a notebook, cell by cell."),
    "git": ("files.git_verb", "Let git compare, merge and clean notebooks."),
    "export": ("files.export_verb", "Write a notebook or run into a file."),
    "import": ("files.export_verb", "Take in a bundle or a notebook file."),
    "runtime": ("server.runtime_verb", "Run cells of a workspace on this machine."),
    "token": ("workspace.token_verb", "Let others in: make, list, pause and revoke tokens."),
    "role": ("workspace.role_verb", "Say who may do what in a notebook."),
    "propose": ("notebook.propose_verb", "Propose a change, to its source or as a pull request."),
    "review": ("files.review_verb", "Run a change before and after, and say what it does."),
    "report": ("files.report_verb", "Publish executed notebooks."),
    "ci": ("files.ci_verb", "Write the workflow that checks notebooks."),
    "proposals": ("notebook.proposals_verb", "List what waits for a yes, look at it, answer."),
    "agent": ("server.agent_verb", "Set up a coding agent for notebooks."),
    "mcp": ("server.mcp_verb", "Give an agent the tools for a workspace."),
    "completion": ("completion_verb", "Print the completion script of a shell."),
}


class _Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = import_module(f".{VERBS[cmd_name][0]}", __package__)
        return getattr(module, f"{cmd_name}_verb")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            from ...core.ids import nearest

            close = nearest(args[0], VERBS)
            hint = f" Did you mean {', '.join(close)}?" if close else " `quire --help` lists the verbs."
            ctx.fail(f"There is no verb {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said) for name, (_, said) in VERBS.items()])


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_STATUS)
@click.version_option(package_name="quire", message="%(prog)s %(version)s")
def cli() -> None:
    """Notebooks that people, agents and machines share: a log of attributed events.

    \b
      quire log sales --follow
    """


def main() -> NoReturn:
    """Run the command line and leave with its exit status."""
    # A verb is short, and what it reads stays until it ends: looking for garbage all the time finds none.
    gc.set_threshold(100_000, 50, 50)
    # Nor does going through all of it once more, when the process ends and its memory with it.
    atexit.register(gc.freeze)
    _open_streams()
    hide_variables()
    try:
        status = cli(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except QuireError as error:
        _tell(str(error), answer(error).exit_status, {"kind": type(error).__name__, **error.details})
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        if error.ctx is not None:
            click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help'.\n", err=True)
        _tell(error.format_message(), 2, {"kind": "BadInput"})
    except click.ClickException as error:
        _tell(error.format_message(), 2, {"kind": "BadInput"})
    except (KeyboardInterrupt, click.Abort):
        _tell("Interrupted.", 130)
    except UnicodeEncodeError:
        _tell("An argument or a setting holds bytes that are not text. Write it in UTF-8.", 2, {"kind": "BadInput"})
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # of os.getcwd
            _tell("The folder that you are in is gone. Go to another.", 2, {"kind": "NotFound"})
        if error.filename is None:  # the output itself: Python would fail once more when it flushes at exit
            sys.stdout = None  # type: ignore[assignment]
        _tell(f"{error.filename or 'The output'} cannot be used: {error.strerror}.", 4, {"kind": "Unavailable"})


def _open_streams() -> None:
    """Have something to write to where the caller closed it (`>&-`): what is said there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - for as long as this process lives


def _tell(message: str, status: int, details: dict[str, Any] | None = None) -> NoReturn:
    from ...formats.terminal_safe import plain

    click.echo(f"quire: {plain(message)}", err=True)
    if details is not None and "--json" in sys.argv and sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]
        from .printer import print_json

        print_json({"error": {"message": message, **details}})
    sys.exit(status)
