"""`{name}` in prose and code: replaced exactly there, and never by more than a literal."""

from __future__ import annotations

import ast
import datetime as dt
import math
import shutil
import sqlite3
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.events import CellKind
from quire.core.sheet import Sheet, SheetCell, with_ids
from quire.core.values import FilePath
from quire.files.fill import fill, fill_code, fill_prose
from quire.files.formats import read, write
from quire.files.literals import literal

LANGUAGES = ("python", "sql", "bash", "r", "julia", "javascript", "scala", "matlab", "powershell", "haskell")


def filled(source: str, language: str = "python", **values: Any) -> str:
    return fill_code(source, language, values)


def refused(source: str, language: str = "python", **values: Any) -> str:
    with pytest.raises(BadInput) as caught:
        fill_code(source, language, values)
    return str(caught.value)


def sheet_of(source: str, kind: CellKind = "code", **metadata: Any) -> Sheet:
    cell = SheetCell(id="", kind=kind, source=source, name="load", metadata=metadata)  # type: ignore[arg-type]
    return Sheet(cells=with_ids([cell]))


# ---- Exactly there


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("for {top} rows", "for 5 rows"),
        ("{top}{top}", "55"),
        ('{"top": {top}}', '{"top": 5}'),
        ("{{top}} { top } {Top} {topp} {top {top:d} ${top}", "{{top}} { top } {Top} {topp} {top {top:d} $5"),
        ("{other}", "{other}"),
    ],
)
def test_only_a_declared_name_in_its_own_braces_is_replaced(source: str, result: str) -> None:
    assert fill_prose(source, {"top": 5}) == result


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (None, "null"), (1.5, "1.5"), (dt.date(2026, 1, 31), "2026-01-31"), ([1, "é"], '[1, "é"]'), (FilePath("a/b"), "a/b"),
     ({"a": (1,)}, '{"a": [1]}'), ("{top}", "{top}")],
)  # fmt: skip
def test_prose_shows_a_value_as_text(value: Any, text: str) -> None:
    assert fill_prose("{x}", {"x": value, "top": 5}) == text


def test_a_value_begins_no_cell_of_its_own() -> None:
    value = "a\n\n```python\nimport os\n```\n\u2028---"
    sheet = fill(read("About {x}.\n\n{x}\n\n```python\ny = 1\n```\n", "a.md"), {"x": value})
    again = read(write(sheet, "a.md"), "a.md")
    assert [cell.kind for cell in again.cells] == ["markdown", "code"]
    assert [cell.source for cell in again.cells] == [cell.source for cell in sheet.cells]


def test_each_kind_of_cell_is_filled_in_its_own_language() -> None:
    fences = {"python": "a = {x}", "sql": "SELECT {x}", "prompt": "Say {x}", "bash": "echo {x}", "raw": "{x}"}
    text = "{x}\n\n" + "".join(f"```{label}\n{source}\n```\n\n" for label, source in fences.items())
    sheet = fill(read(text, "a.md"), {"x": "it's"})
    assert [cell.source for cell in sheet.cells] == [
        "it's",
        'a = "it\'s"',
        "SELECT 'it''s'",
        "Say it's",
        "echo 'it'\\''s'",
        "{x}",
    ]


def test_what_is_refused_names_cell_line_name_and_value() -> None:
    with pytest.raises(BadInput) as caught:
        fill(sheet_of("a = 1\nb = r'{x}'"), {"x": "it's"})
    assert str(caught.value) == (
        'cell load, line 2: {x} cannot be replaced by "it\'s": a raw string cannot hold it.'
        " Give another value, or use the parameter as a variable."
    )
    assert caught.value.details["parameter"] == "x"


# ---- Python


@pytest.mark.parametrize(
    ("source", "value", "result"),
    [
        ("x = {v}", "a'b\n", 'x = "a\'b\\n"'),
        ("x = {v}", -5, "x = (-5)"),
        ("x = {v}.real", 5, "x = (5).real"),
        ("x = {v}", math.nan, "x = float('nan')"),
        ("x = {v}", dt.date(2026, 1, 31), "x = __import__('datetime').date(2026, 1, 31)"),
        ("x = {v}", FilePath("a'b"), "x = __import__('pathlib').Path(\"a'b\")"),
        ("x = 'a {v}'", "it's", "x = 'a it\\'s'"),
        ('x = "a {v}"', "it's", 'x = "a it\'s"'),
        ("x = '''{v}'''", "'''", "x = '''\\'\\'\\''''"),
        ("x = f'{v} {w}' + '{v}'", "{w}", "x = f'{v} {w}' + '{w}'"),
        ("x = rf'{v}' F'{v}'", "a", "x = rf'{v}' F'{v}'"),
        ("x = f'{{v}} {w:{v}} {v!r}'", "a", "x = f'{{v}} {w:{v}} {v!r}'"),
        ("x = b'{v}'", "é", "x = b'\\xc3\\xa9'"),
        ("x = r'\\d{v}'", "a\\b", "x = r'\\da\\b'"),
        ("x = '\\\\{v}'", "a", "x = '\\\\a'"),
        ("x = '\\N{v}'", "a", "x = '\\N{v}'"),
        ("# {v}", "a\nb", "# a b"),
        ("x = sales_{v}", "north", "x = sales_north"),
        ("x = {v}", True, "x = True"),
        ("x = '{v}'", None, "x = 'None'"),
        ("!ls '{v}'", "a.csv", "!ls 'a.csv'"),
        ("%%bash\nls {v}", 5, "%%bash\nls 5"),
    ],
)
def test_a_value_in_python_stays_inside_its_literal(source: str, value: Any, result: str) -> None:
    assert filled(source, v=value) == result


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x = r'{v}'", "'"),
        ("x = r'{v}'", "a\\"),
        ("x = r'{v}'", "a\nb"),
        ("x = '\\{v}'", "' + os.system('x') + '"),
        ("x = '\\{v}'", "n"),
        ("x{v} = 1", "y"),
        ("x{v} = 1", 5),
        ("import {v}", "a b"),
        ("!ls {v}", "a; rm -rf /"),
        ("!ls {v}", "a"),
        ("x = !ls {v}", "a"),
        ("%%bash\nls '{v}'", "a b"),
        ("x = 'open {v}", "a b"),
        ("x = ({v}", "a b"),
        ("{v} = 1", "a b"),
        ("@{v}\ndef f(): ...", "a"),
        ("x = {v}", object()),
        ("x = ''{v}", "a"),
        ("# a\rx = {v}", "f()"),
        ("x = '''open {v}", "a b"),
    ],
)
def test_what_python_cannot_hold_there_is_refused(source: str, value: Any) -> None:
    assert "{v}" in refused(source, v=value)


@pytest.mark.parametrize(
    ("source", "line", "name", "why"),
    [
        ("a = '{w}'\n{v} = 1\nb = {w}", 2, "v", "with it the code would be no Python, or other code"),
        ("a = {w}\nb = {w}\nc = [\n  {v}\n  for {w} in x]\nd = {w}", 5, "w", "with it the code would be no Python, or other code"),
        ("a = {n}\nb = '{v}'\nc = (", 2, "v", "the code around it is no Python, so nobody can tell what it would do there"),
    ],
)  # fmt: skip
def test_what_the_syntax_tree_shows_names_line_name_and_value_too(source: str, line: int, name: str, why: str) -> None:
    assert refused(source, v="a b", w="a b", n=5) == (
        f"line {line}: {{{name}}} cannot be replaced by 'a b': {why}. Give another value, or use the parameter as a variable."
    )


HOSTILE = st.text(st.sampled_from("ab'\"\\{}\n\r\t#;()`$!*/-=%@[] \x00\x0c\u2028\x85é\ud800")) | st.text()
TEMPLATES = st.lists(
    st.sampled_from(
        ["'{v}'", '"{v}"', "'''{v}'''", '"""\n{v}"""', "f'{v}'", "f'{y}{v}'", "rf'{v}'", "r'{v}'", "b'{v}'", "{v}", "[{v}, {v}]",
         "f'{y:{v}}'", "'\\\\{v}'", "f'{{{v}}}'", "'{v}' \"{v}\"", "f'{ {v} }'", "f\"{'{v}'}\"", "({v},)", "-{v}", "u'{v}{v}'"]
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(f"x = {part}  # {{v}}\n" for part in parts))  # fmt: skip


class Shape(ast.NodeTransformer):
    """The code without what its constants say, and without what their f-strings spell out."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(type(node.value).__name__)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return ast.JoinedStr([self.visit(each) for each in node.values if not isinstance(each, ast.Constant)])


def shape(source: str) -> str:
    return ast.dump(Shape().visit(ast.parse(source)))


@pytest.mark.generated
@given(TEMPLATES, HOSTILE)
def test_no_text_changes_what_python_code_does(template: str, value: str) -> None:
    try:
        source = filled(template, v=value)
    except BadInput:
        return
    assert shape(source) == shape(filled(template, v="x"))


@pytest.mark.generated
@given(st.sampled_from(["'{v}'", '"{v}"', "'''{v}'''", '"""{v}"""', "f'{v}'", 'f"""{v}"""', "{v}", "u'{v}'"]), HOSTILE)
def test_text_in_python_is_exactly_that_text(template: str, value: str) -> None:
    # In an f-string it is the variable, which a run sets too.
    assert eval(filled(template, v=value), {"v": value}) == value


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | HOSTILE | st.binary() | st.dates() | st.datetimes()
    | st.times() | st.timedeltas(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.generated
@given(VALUES)
def test_a_literal_of_python_is_exactly_its_value(value: Any) -> None:
    assert eval(literal(value, "python"), {}) == value
    assert eval(filled("[{v}]", v=value), {}) == [value]


@pytest.mark.parametrize(
    "value",
    [{1, 2}, set[int](), frozenset({1}), frozenset[int](), (1,), (), dt.datetime(2026, 1, 1, tzinfo=dt.UTC), 2**70],
)
def test_other_values_of_python_are_exact_too(value: Any) -> None:
    assert eval(literal(value, "python"), {}) == value


# ---- SQL


@pytest.mark.parametrize(
    ("source", "value", "result"),
    [
        ("a - {v}", -5, "a - (-5)"),
        ("a IN {v}", [1, "x"], "a IN (1, 'x')"),
        ("FROM sales_{v}", "north", "FROM sales_north"),
        ('"{v}"', 'a"b', '"a""b"'),
        ("{v}", None, "NULL"),
        ("DATE '{v}'", dt.date(2026, 1, 31), "DATE '2026-01-31'"),
        ("{v}", b"\x01", "X'01'"),
        ("/* {v} */ 1", "fine", "/* fine */ 1"),
        ("-- {v}\nSELECT 1", "a\n; DROP", "-- a ; DROP\nSELECT 1"),
    ],
)
def test_a_value_in_sql_stays_inside_its_literal(source: str, value: Any, result: str) -> None:
    assert filled(source, "sql", v=value) == result


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'{v}'", "\\"),
        ("{v}", "a\\"),
        ("# don't\n{v}", "1; DROP TABLE t"),
        ("'it\\'s' {v}", "x"),
        ("$$ don't $$ {v}", "x"),
        ("E'{v}'", "x y"),
        ("/* a /* b */ {v} */", "x"),
        ("/* {v} */", "*/ DROP"),
        ("[a {v}]", "x] y"),
        ("1 --{v}'", "x y"),
        ("x{v}", "y"),
        ("{v}", math.nan),
        ("${v}", "x"),
        ("'open {v}", "x y"),
        ("'a'{v}", "x"),
        ("// don't\nSELECT '{v}'", "x y"),
        ("/*! {v} */", "1"),
        ("-- a\r{v}", "1; DROP"),
    ],
)
def test_what_dialects_of_sql_read_differently_is_refused(source: str, value: Any) -> None:
    refused(source, "sql", v=value)


@pytest.mark.parametrize("value", [[], (), set[int](), [[]]])
def test_an_empty_list_in_sql_is_refused_with_the_reason(value: Any) -> None:
    assert "with (NULL) NOT IN is never true" in refused("SELECT 1 WHERE a NOT IN {v}", "sql", v=value)


@pytest.mark.generated
@given(HOSTILE)
def test_no_text_adds_a_statement_to_sql(value: str) -> None:
    template = "SELECT {v}, '{v}', 'a{v}''b' /* keep */ -- {v}\nAS \"c {v}\""
    try:
        source = filled(template, "sql", v=value)
    except BadInput:
        return
    connection = sqlite3.connect(":memory:")
    row = connection.execute(source).fetchone()  # one statement, or sqlite3 itself refuses
    connection.close()
    assert row == (value, value, f"a{value}'b")


# ---- bash

BASH = shutil.which("bash") or "bash"


def said(script: str) -> list[str]:
    """What a script prints, by NULs."""
    subprocess.run([BASH, "-n", "-c", script], check=True, capture_output=True)
    done = subprocess.run([BASH, "-c", script], check=True, capture_output=True, env={"PATH": "", "y": "Y"})
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


NASTY = [
    "$(echo no)", "`echo no`", "'; echo no; '", '"; echo no; "', "a'b\"c\\", "${y}", "$y", "!!", "a b  c", "", "-n", "*", "~", "a\nb", "\\",
    "'\\''", "{a,b}", "é☃", "#x", "a\tb", "&& echo no", "$'\\n'", "\\\n", "<(echo)",
]  # fmt: skip


@pytest.mark.parametrize("value", NASTY)
def test_no_text_adds_a_command_to_bash(value: str) -> None:
    template = """printf '%s\\0' {v} a{v}b "{v}" "a {v} $y{v}" '{v}' x={v} "${y}{v}" # {v}\nprintf '%s\\0' $(printf %s "in") {v}\n"""
    source = filled(template, "bash", v=value)
    expected = [value, f"a{value}b", value, f"a {value} Y{value}", value, f"x={value}", f"Y{value}", "in", value]
    assert said(source) == expected


@pytest.mark.generated
@settings(max_examples=40)
@given(HOSTILE)
def test_text_in_bash_is_exactly_that_text(value: str) -> None:
    try:
        source = filled("""printf '%s\\0' {v} "{v}" '{v}' # {v}\n""", "bash", v=value)
    except BadInput:
        return
    assert said(source) == [value] * 3


def test_a_list_in_bash_is_several_words() -> None:
    assert said(filled("for x in {v}; do printf '%s\\0' \"$x\"; done", "bash", v=["a b", 1, "$y"])) == [
        "a b",
        "1",
        "$y",
    ]


@pytest.mark.parametrize(
    "source",
    ["{v} -l", "ls; {v}", "ls | {v}", "if {v}; then ls; fi", "LANG=C {v}", "eval {v}", "${x}eval {v}", "let {v}", "x=$(({v}))",
     "[[ {v} -eq 1 ]]", "a[{v}]=1", 'a["{v}"]=1', "cat <<EOF\n{v}\nEOF", "echo `ls {v}`", 'echo "$(ls "{v}")"', "echo ${x:-{v}}",
     "declare -i x={v}", "echo $'{v}'",
     "echo $x{v}", "[ -v {v} ]", "echo \\{v}", 'echo "\\{v}"', "printf -v {v} x", "unset {v}", "sudo {v}", "echo 'open {v}", 'echo "{v}'],
)  # fmt: skip
def test_where_a_shell_would_read_text_as_code_it_is_refused(source: str) -> None:
    refused(source, "bash", v="$(echo no)")


RUN = [
    "echo >&{v}", "echo 2>& '{v}'", "echo \\ # ;{v}", "echo \u00a0#;{v}", "echo ># ;{v}", "case a in a) {v};; esac",
    "case {v} in a) ls;; esac", 'FOO="a b" {v}', "A=$(date) {v}", "a+=x {v}", "2>/dev/null {v}",
    ">/dev/null {v}", "&>x {v}", "<<<x {v}", "coproc {v}", "time -p {v}", "sudo -u root {v}", ". {v}", "'eval' {v}", "\\eval {v}",
    "e''val {v}", "alias ls={v}", "'{v}'", '"{v}" a', "eval '{v}'", 'bash -c "{v}"', "/usr/bin/env {v}", "env A=1 {v}", "f() { {v}; }",
    "(ls; {v})", "echo $({v})", "echo <({v})", "! {v}", "for {v} in a; do ls; done", "for x do {v}; done", "for PATH in {v}; do ls; done",
    "PATH={v}", "PROMPT_COMMAND='{v}'", "$x {v}", "(ls) {v}", "x=({v})", "ls \\\n&& \\\n{v}", "export {v}",
    "xargs -n1 {v}", "{v}() { ls; }",
    "function {v} { ls; }", "if true; then {v}; fi", "{ {v}; }", "test {v}", "[ {v} = a ]", "a[0]=1 {v}", "echo a\r\n{v}", "trap {v} EXIT",
]  # fmt: skip


@pytest.mark.parametrize("source", RUN)
def test_where_a_shell_would_run_even_a_plain_word_it_is_refused(source: str) -> None:
    assert "{v} cannot be replaced by 'reboot'" in refused(source, "bash", v="reboot")


@pytest.mark.parametrize(
    "source",
    ["A=1 curl -s {v} 'a {v}' >{v}", "x={v}", 'x="{v}" y={v}', "f() { ls {v}; }", "f () {\n  ls {v}\n}",
    "(cd {v} && ls {v})", "ls $(dirname {v})",
     "if grep -q {v} a; then\n  ls {v} # it's\nelse ls {v}; fi", "while read l; do ls; done < {v}", "2>/dev/null ls {v} | sort {v}",
     "ls \\\n  {v} \\\n  {v}", "./a/b.sh {v} &", "diff <(ls {v}) {v}", "for x in a {v}; do ls {v}; done", "! ls {v}", "{ ls {v}; } > {v}"],
)  # fmt: skip
def test_an_argument_of_a_plain_command_is_filled(source: str) -> None:
    assert filled(source, "bash", v="a.csv") == source.replace("{v}", "a.csv")


@pytest.mark.parametrize(
    "source", ["timeout {v} ls", '[ "$x" -gt {v} ]', "export N={v}", "echo $((1 + {v}))", "nice -n {v} ls"]
)
def test_numbers_stand_also_where_text_might_be_run(source: str) -> None:
    assert filled(source, "bash", v=5) == source.replace("{v}", "5")
    refused(source, "bash", v="x")


def test_a_list_is_no_value_of_a_shells_variable() -> None:
    assert "not a list" in refused("x={v}", "bash", v=["a", "reboot"])
    assert "not a list" in refused("ls > {v}", "bash", v=["a", "reboot"])


PIECES = [
    "{v}", "{v}", "{v}", "'{v}'", '"{v}"', "'a {v}'", " ", " ", " ", "\n", ";", "&&", "|", "&", "(", ")", "$(", "{ ",
    "; }", ">", "2>", "<", "<<<", ">&",
    "echo ", ": ", "true ", "printf %s ", "x=", "x+=", "A=1 ", "f() ", "f\n", "eval ", "'eval' ", "e''val ",
    "\\eval ", "command ", "builtin ",
    "exec ", "time ", "coproc ", "! ", "if ", "then ", "; fi", "for x in ", "do ", "; done", "case a in a) ",
    ";; esac", "[ ", " ]", "[[ ", " ]]",
    "((", "))", "$((", "${", "}", "`", "$x", "\\", "\\\n", "#", " # ", "'", '"', "alias f=", "trap ", "source ",
    ". ", "export ", "declare ", "let ",
    "a[", "]", "=", "~", "*", "\t", "\r\n", "function f ", "in ", "-p ", "-- ", "set ", "2", "&>", "select x in ", "<(", "<<E\n", "\nE\n",
]  # fmt: skip
EVIL: list[Any] = [
    "canary", "$(canary)", "`canary`", "; canary;", "'; canary; '", '"; canary; "', "\ncanary\n", "\\", "'",
    "a[$(canary)]", "&& canary", "-c canary",
    "canary #", "\\'; canary; #", ") canary", "}; canary; {", "x=$(canary)", ["a", "canary"], ["canary"], "EXIT",
    "f", "!canary", "$x canary",
]  # fmt: skip


@pytest.mark.generated
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join), st.sampled_from(EVIL))
def test_no_value_is_run_by_any_script(tmp_path: Path, template: str, value: Any) -> None:
    try:
        source = filled(template, "bash", v=value)
    except BadInput:
        return
    if source == template:
        return
    script = f"canary() {{ builtin : >{tmp_path}/ran; }}\n{source}\n"
    # A folder for each: what one script writes, another might read as its own.
    with TemporaryDirectory(dir=tmp_path) as scratch:
        subprocess.run(
            [BASH, "-c", script],
            cwd=scratch,
            env={"PATH": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
        )
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", ["a[$(echo no)]", "x[`echo no`]", "a[1+${x}]"])
def test_text_that_a_shells_arithmetic_would_run_is_refused_everywhere(value: str) -> None:
    for source in ("x={v}", "x='{v}'", 'x="{v}"', "echo {v}"):
        refused(source, "bash", v=value)


@pytest.mark.parametrize("source", ["echo ${v}", 'echo "${v}"', "echo $v {{v}}"])
def test_what_is_the_shells_own_stays(source: str) -> None:
    assert filled(source, "bash", v="x y") == source


def test_a_number_before_a_redirection_stays_an_argument() -> None:
    assert filled("echo {v}>out", "bash", v=2) == "echo '2'>out"


def test_a_terminal_gets_no_control_characters() -> None:
    refused("echo {v}", "bash", v="a\x03b")
    refused("echo '{v}'", "bash", v="\x1b[0m")


# ---- The others


@pytest.mark.parametrize(
    ("language", "source", "value", "result"),
    [
        ("r", 'x <- {v}; y <- "{v}"; z <- \'{v}\'', "a'\"\\\n", 'x <- "a\'\\"\\\\\\n"; y <- "a\'\\"\\\\\\n"; z <- \'a\\\'"\\\\\\n\''),
        ("r", "x <- {v} # {v}", 5, "x <- 5L # 5"),
        ("r", "x %in% {v}", ["a", 1.5, None], 'x %in% list("a", 1.5, NULL)'),
        ("r", "d <- {v}", dt.date(2026, 1, 31), 'd <- as.Date("2026-01-31")'),
        ("julia", 'x = "{v}" * {v}; A\' * 2', "$(run(`x`))\"", 'x = "\\$(run(`x`))\\"" * "\\$(run(`x`))\\""; A\' * 2'),
        ("julia", "x = {v}", {"a": [1, (2,)]}, 'x = Dict("a" => [1, (2, )])'),
        ("julia", "c = '\"'; x = {v}", "a", "c = '\"'; x = \"a\""),
        ("javascript", "f({v}, '{v}', `{v} ${w}`) // {v}", "`'${x}\u2028",
         "f(\"`'${x}\\u2028\", '`\\'\\${x}\\u2028', `\\`'\\${x}\\u2028 ${w}`) // `'${x} "),
        ("javascript", "x = {v}", {"__proto__": 1}, 'x = ({["__proto__"]: 1})'),
        ("javascript", "x = a / 2 + {v}", -1, "x = a / 2 + (-1)"),
        ("javascript", "x = `${v}`", "a", "x = `${v}`"),
        ("scala", 'val x = "{v}" + {v}', 5, 'val x = "5" + 5'),
        ("scala", 'val x = "{v}"', "north-1", 'val x = "north-1"'),
        ("powershell", "$x = {v}", True, "$x = $true"),
        ("haskell", "x = {v}", 2.5, "x = 2.5"),
        ("haskell", "x = {v}", -2, "x = -2"),
    ],
)  # fmt: skip
def test_a_value_in_other_languages_stays_inside_its_literal(
    language: str, source: str, value: Any, result: str
) -> None:
    assert filled(source, language, v=value) == result


@pytest.mark.parametrize(
    ("language", "source", "value"),
    [
        ("r", 'x <- r"({v})"', "a b"),
        ("r", "`{v}`", "a b"),
        ("r", "x <- {v}", 2**60),
        ("julia", 'r"{v}"', "a b"),
        ("julia", "`ls {v}`", "a b"),
        ("julia", '"${v}"', "a"),
        ("julia", '"$(f("{v}"))"', "a b"),
        ("julia", "#= a #= b =# {v} =#", "a b"),
        ("julia", '"""$(1) "{v}', "a b"),
        ("javascript", "<b>don't {v} can't</b>", "{f()}"),
        ("javascript", "<!-- don't\n'{v}'", "a b"),
        ("javascript", "/'/; x = '{v}'", "a b"),
        ("javascript", "`${f(`{v}`)}`", "a b"),
        ("scala", 'val x = "{v}"', "a b"),
        ("scala", "val x = {v}", "a"),
        ("matlab", "{v}", "exit"),
        ("matlab", "x = 2 - {v}", -1),
        ("haskell", "x = {v}", "a"),
        ("haskell", 'x = "a{v}"', "a"),
    ],
)
def test_what_is_not_clear_in_other_languages_is_refused(language: str, source: str, value: Any) -> None:
    refused(source, language, v=value)


@pytest.mark.generated
@given(st.sampled_from(LANGUAGES), st.text("{v}'\"`\\ \n#-/*=x$()[]%;"), HOSTILE)
def test_any_code_with_any_text_is_filled_or_refused(language: str, source: str, value: str) -> None:
    try:
        result = filled(source, language, v=value)
    except BadInput:
        return
    if "{v}" not in source:
        assert result == source


def test_a_long_cell_with_many_places_is_filled_in_good_time() -> None:
    """What grows with the square of its input ends at the time limit of the tests."""
    source = "x = '{v}' + {v}  # {v}\n" * 3000
    assert filled(source, v="it's").count("it\\'s") == 3000
