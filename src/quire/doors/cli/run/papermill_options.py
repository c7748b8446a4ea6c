"""What `quire run` takes: papermill's flags, in its order and with its meaning, and the values that come by them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from ....core.errors import BadInput
from ....core.params.parameters import Text
from ....formats.terminal_safe import one_line

F = TypeVar("F", bound=Callable[..., Any])
LEVELS = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
"""papermill's, which are Python's."""
_PAIRS = ("-p", "--parameters", "-r", "--parameters_raw")


class Pairs(click.Command):
    """Takes `-p NAME VALUE` as papermill does, and `-p NAME=VALUE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Make one word of each name and its value, whatever that begins with."""
        made: list[str] = []
        rest = iter(args)
        for word in rest:
            made.append(word)
            if word in _PAIRS:
                name = next(rest, None)
                if name is not None and "=" not in name:
                    value = next(rest, None)
                    name = name if value is None else f"{name}={value}"
                made += [name] if name is not None else []
        return super().parse_args(ctx, made)


def papermills(verb: F) -> F:
    """The options that papermill has, in its order and with its meaning."""
    for option in reversed(_PAPERMILLS):
        verb = option(verb)
    return verb


_PAPERMILLS = (
    click.option("--help-notebook", is_flag=True, help="List the parameters that SOURCE takes, and run nothing."),
    click.option("-p", "--parameters", metavar="NAME VALUE", multiple=True, help="Fill a parameter; also NAME=VALUE."),
    click.option("-r", "--parameters_raw", metavar="NAME VALUE", multiple=True, help="The same, taken as text."),
    click.option("-f", "--parameters_file", metavar="FILE", multiple=True, help="Parameters from a YAML or JSON file."),
    click.option("-y", "--parameters_yaml", metavar="YAML", multiple=True, help="Parameters as YAML or JSON."),
    click.option("-b", "--parameters_base64", metavar="TEXT", multiple=True, help="Parameters as YAML in Base64."),
    click.option("--inject-input-path", is_flag=True, help="SOURCE as the parameter PAPERMILL_INPUT_PATH."),
    click.option("--inject-output-path", is_flag=True, help="OUTPUT as the parameter PAPERMILL_OUTPUT_PATH."),
    click.option("--inject-paths", is_flag=True, help="Both of them."),
    click.option("--engine", metavar="NAME", help="Who runs the notebook: quire, and nobody else."),
    click.option(
        "--request-save-on-cell-execute/--no-request-save-on-cell-execute",
        default=True,
        help="Keep OUTPUT current while the run goes on.",
    ),
    click.option(
        "--autosave-cell-every",
        metavar="SECONDS",
        type=click.FloatRange(min=0),
        default=30,
        show_default=True,
        help="So often while one cell runs; 0: not then.",
    ),
    click.option(
        "--prepare-only/--prepare-execute", default=False, help="Write OUTPUT with its parameters; run nothing."
    ),
    click.option(
        "-k", "--kernel", metavar="NAME", help="A Jupyter kernel.  [default: the active environment's Python]"
    ),
    click.option("-l", "--language", metavar="NAME", help="The language, where the notebook does not say it."),
    click.option("--cwd", type=click.Path(path_type=Path, file_okay=False), help="The folder that cells run in."),
    click.option("--progress-bar/--no-progress-bar", default=True, help="Say on stderr which cell runs."),
    click.option("--log-output/--no-log-output", default=False, help="Print what cells print, on stderr."),
    click.option("--stdout-file", metavar="FILE", help="Write what cells print on stdout into FILE."),
    click.option("--stderr-file", metavar="FILE", help="Write what cells print on stderr into FILE."),
    click.option(
        "--log-level",
        type=click.Choice(list(LEVELS)),
        default="INFO",
        show_default=True,
        help="What is worth a line on stderr.",
    ),
    click.option(
        "--start-timeout",
        "--start_timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0),
        default=60,
        show_default=True,
        help="For the kernel to start.",
    ),
    click.option(
        "--execution-timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop a cell after so long."
    ),
    click.option("--report-mode/--no-report-mode", default=False, help="Hide the sources in the output."),
)


def check_stdout(options: Mapping[str, Any]) -> None:
    """Refuse what would be mixed there: one value of JSON, or one notebook, is all that others can read."""
    wholes = {"OUTPUT -": options["output"] == "-", "--json": options["as_json"]}
    streams = {f"--{name}-file -": options[f"{name}_file"] == "-" for name in ("stdout", "stderr")}
    claims = [name for name, is_there in (wholes | streams).items() if is_there]
    if len(claims) > 1 and any(wholes.values()):
        raise BadInput(f"{' and '.join(claims)} cannot both be on stdout. Leave one out, or name a file.")


# ---- Values


async def values_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values that were given; what stands further to the right in papermill's order has the last word."""
    from ....runs.locations import read_place, shown

    values: dict[str, Any] = {}
    for text in options["parameters_base64"]:
        values |= _mapping(_decoded(text), "--parameters_base64")
    for name in options["parameters_file"]:
        values |= _mapping(await read_place(name), shown(name))
    for text in options["parameters_yaml"]:
        values |= _mapping(text, "--parameters_yaml")
    for pair in options["parameters"]:
        name, value = pair_of(pair)
        values[name] = Text(value)
    for pair in options["parameters_raw"]:
        name, value = pair_of(pair)
        values[name] = value
    return values


def pair_of(given: str) -> tuple[str, str]:
    """Return the name and the value of NAME=VALUE."""
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise BadInput(f"Parameter {given!r} has no value. Write -p NAME VALUE, or -p NAME=VALUE.")
    return name, value


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise BadInput("--parameters_base64 is not YAML in Base64.") from None


def _mapping(text: str, what: str) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """A date is text until a parameter says that it is none, as papermill has it."""

    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
    try:
        found: Any = yaml.load(text, Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise BadInput(f"{what} is not YAML: {one_line(str(error), 200)}.") from None
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", found)):
        raise BadInput(f"{what} is to be names with values, such as {{top: 5}}.")
    return cast("dict[str, Any]", found)
