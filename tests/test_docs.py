"""The docs say what the code says: pages written from it are up to date, and every link leads somewhere."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import click
import msgspec
import pytest

from quire.core import codec
from quire.core.errors import QuireError, answer
from quire.doors.cli.main import cli
from quire.doors.cli.settings import ServeSettings
from quire.doors.http.server_settings import ServerSettings
from quire.stores.index import TABLES, IndexRows
from quire.stores.sqlite.query import VIEWS, ask_rows

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
MARKDOWN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "spec" / "README.md", *sorted(DOCS.rglob("*.md"))]


def load_generator() -> ModuleType:
    """docs/generate.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GENERATE: Any = load_generator()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages as they would be written now."""
    return GENERATE.pages()


# ---- Pages written from the code


def test_the_reference_is_what_the_code_says(pages: dict[str, str]) -> None:
    """`make docs` writes it."""
    old = [name for name, text in pages.items() if not same(REFERENCE / name, text)]
    assert old == [], f"docs/reference/{old[0]} is not up to date: run `make docs` and commit what it writes"
    by_hand = {
        "agent-text.md",
        "diff.md",
        "formats.md",
        "identity.md",
        "keys.md",  # written where the web app's packages are
        "logbook.md",
        "parameters.md",
        "places.md",
        "results.md",
        "runtime-protocol.md",
        "settings.md",
        "socket.md",
    }
    assert {path.name for path in REFERENCE.iterdir()} == set(pages) | by_hand, "a page that nothing writes any more"


def same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


def test_the_reference_reads_the_same_whatever_the_terminal(
    pages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    assert GENERATE.pages() == pages


def test_every_event_is_in_the_reference_with_its_fields() -> None:
    missing: list[str] = []
    for tag, event in codec.event_types().items():
        section = section_of("events.md", tag)
        missing += [f"{tag}.{field}" for field in event.__struct_fields__ if f"`{field}`" not in section]
    assert missing == []


@pytest.mark.parametrize("kind", QuireError.__subclasses__())
def test_every_error_is_in_the_reference_with_its_answers(kind: type[QuireError]) -> None:
    (row,) = [line for line in (REFERENCE / "errors.md").read_text().splitlines() if f"`{kind.__name__}`" in line]
    for each in answer(kind("")):
        assert f" {each} " in row


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_in_the_reference_with_its_columns(view: str) -> None:
    section = section_of("sql.md", view, "## ")
    told = ask_rows(IndexRows(), [], [], f"SELECT * FROM {view}", limit=1, seconds=10).columns
    assert set(TABLES.get(view, told)) == set(told)
    for column in told:
        assert f"| `{column}` |" in section


@pytest.mark.parametrize("question", GENERATE.EXAMPLES)
def test_every_example_query_can_be_asked(question: str) -> None:
    ask_rows(IndexRows(), [], [], GENERATE.EXAMPLES[question], limit=1, seconds=10)


def options() -> Iterator[tuple[str, str]]:
    """Each verb with each of its options and arguments, as they are typed."""
    waiting: list[tuple[str, click.Command]] = [("quire", cli)]
    while waiting:
        path, command = waiting.pop()
        context = click.Context(command, info_name=path)
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.hidden:
                continue
            for name in parameter.opts if isinstance(parameter, click.Option) else [parameter.make_metavar(context)]:
                yield path, name
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                waiting.append((f"{path} {name}", found))


def test_every_option_of_the_command_line_is_in_the_reference() -> None:
    page = (REFERENCE / "cli.md").read_text()
    sections = {verb: page if verb == "quire" else section_of("cli.md", verb, "## ") for verb, _ in options()}
    assert len(sections) > 40
    assert [f"{verb} {option}" for verb, option in options() if option not in sections[verb]] == []


def section_of(page: str, title: str, level: str = "### ") -> str:
    """What stands under a heading, up to the next of its level."""
    _, found, rest = f"\n{(REFERENCE / page).read_text()}".partition(f"\n{level}{title}\n")
    assert found, f"docs/reference/{page} has no section {title!r}: run `make docs`"
    return rest.partition(f"\n{level}")[0]


# ---- The specification


def test_the_specification_has_the_sixteen_rules() -> None:
    found = re.findall(r"^### N(\d+) ", (DOCS / "spec.md").read_text(), re.MULTILINE)
    assert [int(number) for number in found] == list(range(1, 17))


def test_the_worked_example_of_the_chain_is_real() -> None:
    """Rule 4: chain-two-records has the same records, and another test computes them."""
    spec = (DOCS / "spec.md").read_text()
    case = json.loads((ROOT / "spec" / "cases" / "chain-two-records.json").read_text())
    for record in case["records"]:
        names = ("log", "seq", "id", "key", "cause", "at", "actor", "on_behalf_of", "type")
        envelope = json.dumps([record[name] for name in names], separators=(",", ":"), ensure_ascii=False)
        for line in (
            f"payload   {record['payload']}",
            f"digest    {record['digest']}",
            f"envelope  {envelope}",
            f"hash      {record['hash']}",
        ):
            assert f"\n{line}\n" in spec


# ---- Links


def links() -> Iterator[tuple[Path, str]]:
    """Every relative link, with the page that it stands on."""
    for page in MARKDOWN:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if not re.match(r"[a-z]+:", target):
                yield page, target


def test_every_relative_link_leads_somewhere() -> None:
    wrong = [f"{page.relative_to(ROOT)} links to {target}: {why}" for page, target, why in broken_links()]
    assert wrong == []


def broken_links() -> Iterator[tuple[Path, str, str]]:
    """Each link that leads nowhere, and what is missing there."""
    found = sorted(set(links()))
    assert len(found) > 100
    for page, target in found:
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            yield page, target, "there is no such file"
        elif anchor and anchor not in anchors(file):
            yield page, target, "there is no such heading"


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """What a forge makes of the headings: lower case, no punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-") for text in headings)


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    source = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for setting in set(re.findall(r"\bQUIRE_[A-Z_]+\b", source)) - {"QUIRE_COMPLETE"}:
        assert f"`{setting}`" in page, setting


@pytest.mark.parametrize("name", ServeSettings.__struct_fields__)
def test_every_setting_of_a_server_is_documented(name: str) -> None:
    assert f"| `{name}` |" in section_of("settings.md", "`quire serve`", "## ")


@pytest.mark.parametrize("field", msgspec.structs.fields(ServerSettings), ids=lambda field: field.name)
def test_every_setting_of_the_door_is_documented_with_its_default(field: msgspec.structs.FieldInfo) -> None:
    (row,) = [
        line
        for line in section_of("settings.md", "`quire serve`", "## ").splitlines()
        if line.startswith(f"| `{field.name}` |")
    ]
    default: Any = field.default
    told = (
        ", ".join(f"`{each}`" for each in cast("tuple[str, ...]", default))
        if isinstance(default, tuple)
        else f"{default:g}"
    )
    shown = str(default) if isinstance(default, int) else told
    assert row.split("|")[2].strip() == shown
