"""`quire logbook list|new|lint|show|run|adopt|learn`."""

from __future__ import annotations

import click

from .. import EXIT_STATUS
from .logbook_learn_verb import adopt_verb, learn_verb
from .logbook_run_verb import run_verb
from .logbook_show_verb import show_verb
from .template_verbs import lint_verb, list_verb, new_verb


@click.group("logbook", epilog=EXIT_STATUS)
def logbook_verb() -> None:
    """Write logbooks, which are notebooks as Markdown templates, and run them.

    \b
      quire logbook new rotate_keys --task "Rotate the keys of a service"
      quire logbook run EXAMPLE_TEMPLATE -p name World --request "Please greet the world"
      quire logbook list

    Templates lie in logbooks/templates/; each run leaves a file in logbooks/runs/, which can be read anywhere and run again.
    """


for _verb in (list_verb, new_verb, lint_verb, show_verb, run_verb, adopt_verb, learn_verb):
    logbook_verb.add_command(_verb)
