"""Parameters as source code: exactly the value, in nine languages and some, or a refusal that names it."""

from __future__ import annotations

import ast
import datetime as dt
import json
import math
import re
import shutil
import subprocess
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.values import FilePath, tag, untag
from quire.formats.literals.translate import LANGUAGES, fits, known_language, translate

from ..other_kernels import DENO

SUMMER = dt.datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
HOSTILE = (
    st.text(st.sampled_from("ab'\"\\{}\n\r\t#;()`$!*/-=%@[] \x00\x0c\u2028\x85é\u2019\u201d\ufeff🦊\ud800")) | st.text()
)


def tidy(text: str) -> FilePath:
    """A path as pathlib has it, so that it comes back the same."""
    return FilePath(PurePosixPath(text))


SCALARS: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | HOSTILE | st.binary() | HOSTILE.map(tidy)
    | st.dates() | st.times() | st.timedeltas() | st.datetimes() | st.datetimes(timezones=st.just(dt.UTC))
    | st.datetimes(timezones=st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes))))
)  # fmt: skip
KEYS = st.integers() | HOSTILE | st.dates() | st.tuples(st.integers(), HOSTILE)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(KEYS, inner, max_size=3)
    | st.sets(KEYS, max_size=3) | st.frozensets(KEYS, max_size=3),
    max_leaves=6,
)  # fmt: skip


def assigned(value: Any, language: str) -> str:
    """The line that assigns it."""
    first, *_, line = translate({"x": value}, language)[:-1].split("\n")
    assert first in ("# Parameters", "// Parameters", "% Parameters", "(* Parameters *)")
    return line


def refused(value: Any, language: str) -> str:
    with pytest.raises(BadInput) as caught:
        translate({"x": value}, language)
    return str(caught.value)


# ---- Python


def executed(values: dict[str, Any]) -> dict[str, Any]:
    """What the names are in a kernel that has run the cell."""
    names: dict[str, Any] = {}
    exec(translate(values, "python"), names)  # the very thing that a kernel does with it
    return {name: names[name] for name in values}


def shown(value: Any) -> str:
    """NaN is not equal to itself, and 1 is equal to True: what is compared is what Python shows."""
    return repr(tag(value))


@pytest.mark.generated
@given(VALUES)
def test_a_value_is_exactly_the_same_in_python(value: Any) -> None:
    assert shown(executed({"x": value})["x"]) == shown(value)
    assert shown(executed({"x": untag(tag(value))})["x"]) == shown(value)


@pytest.mark.generated
@given(VALUES)
def test_no_value_adds_a_statement_to_python(value: Any) -> None:
    source = translate({"x": value}, "python")
    assert source.count("\n") == len(ast.parse(source).body) + 1
    *imports, last = ast.parse(source).body
    assert all(isinstance(each, ast.Import) for each in imports)
    assert isinstance(last, ast.Assign)
    calls = {ast.unparse(each.func) for each in ast.walk(last) if isinstance(each, ast.Call)}
    assert calls <= {
        "float",
        "set",
        "frozenset",
        "_pathlib.Path",
        "_dt.date",
        "_dt.datetime",
        "_dt.time",
        "_dt.timedelta",
        "_dt.timezone",
    }


def test_a_cell_of_python_is_readable() -> None:
    values = {
        "month": "2026-10",
        "top": 5,
        "day": dt.date(2026, 10, 1),
        "where": FilePath("data/a b.csv"),
        "none": None,
    }
    assert translate(values, "python") == (
        "# Parameters\n"
        "import datetime as _dt\n"
        "import pathlib as _pathlib\n"
        'month = "2026-10"\n'
        "top = 5\n"
        "day = _dt.date(2026, 10, 1)\n"
        'where = _pathlib.Path("data/a b.csv")\n'
        "none = None\n"
    )


def test_nothing_is_imported_for_what_needs_nothing() -> None:
    assert translate({"x": [1, "é", {2.5: None}]}, "python") == '# Parameters\nx = [1, "é", {2.5: None}]\n'


def test_a_parameter_may_be_called_like_what_others_need() -> None:
    values = {
        "float": 1,
        "set": 2,
        "frozenset": 3,
        "_dt": 4,
        "__dt": 5,
        "a": math.inf,
        "b": set[int](),
        "c": frozenset((1,)),
    }
    found = executed({**values, "d": dt.date(2026, 1, 31), "_builtins": 6})
    assert found == {**values, "d": dt.date(2026, 1, 31), "_builtins": 6}


@pytest.mark.parametrize(
    "value", [SUMMER, SUMMER.timetz(), dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1), "a'b"))]
)
def test_a_zone_keeps_its_rules_and_its_name(value: Any) -> None:
    found = executed({"x": value})["x"]
    assert repr(found) == repr(value)


def test_what_hides_the_notebooks_own_names_is_not_imported() -> None:
    names: dict[str, Any] = {}
    exec("from datetime import datetime\nfrom pathlib import PurePath as Path", names)
    exec(translate({"x": dt.datetime(2026, 1, 1), "y": FilePath("a")}, "python"), names)
    exec("again = datetime(2026, 1, 1); other = Path('a')", names)
    assert names["again"] == names["x"]
    assert type(names["other"]).__name__ == "PurePosixPath"


# ---- bash

BASH = shutil.which("bash") or "bash"


def said(script: str) -> list[str]:
    """What a script prints, by NULs."""
    done = subprocess.run([BASH, "-c", script], check=True, capture_output=True, env={"PATH": "", "LC_ALL": "C.UTF-8"})
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


def fitting(texts: list[str]) -> list[str]:
    """Those that bash takes, as it has them."""
    return [text for text in texts if fits("x", text, "bash")]


@pytest.mark.generated
@settings(max_examples=25)
@given(st.lists(HOSTILE, max_size=12))
def test_text_in_bash_is_exactly_that_text(texts: list[str]) -> None:
    texts = fitting(texts)
    keys = list(dict.fromkeys(text for text in texts if text))
    values = {"whole": texts, "keyed": {key: key for key in keys}} | {
        f"x{index}": text for index, text in enumerate(texts)
    }
    script = translate(values, "bash") + "printf '%s\\0' start \"${whole[@]}\"\n"
    script += "".join(f"printf '%s\\0' \"$x{index}\"\n" for index in range(len(texts)))
    script += 'for key in "${!keyed[@]}"; do printf \'%s\\0\' "$key" "${keyed[$key]}"; done\n'
    found = said(script)
    # Without members, bash prints nothing for an array.
    assert found[: len(texts) + 1] == ["start", *texts]
    assert found[len(texts) + 1 : 2 * len(texts) + 1] == texts
    pairs = found[2 * len(texts) + 1 :]
    assert sorted(pairs[::2]) == sorted(keys)
    assert pairs[::2] == pairs[1::2]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (5, "x=5"),
        (2**70, f"x={2**70}"),
        (-1.5, "x=-1.5"),
        (math.nan, "x=nan"),
        (None, "x="),
        (True, "x=true"),
        ("", "x=''"),
        ("a b", "x='a b'"),
        ("it's", "x='it'\\''s'"),
        ("a\nb!", "x=$'a\\nb\\x21'"),
        (b"\xff'", "x=$'\\xff\\''"),
        ([], "x=()"),
        (["a b", 1, None], "x=('a b' 1 '')"),
        ({"a": 1, "@": "b c"}, "declare -A x=(['a']=1 ['@']='b c')"),
        (dt.date(2026, 1, 31), "x=2026-01-31"),
        (FilePath("a/$b"), "x='a/$b'"),
        ("\udc80", "x=$'\\x80'"),
        ((1, 2), "x=(1 2)"),
    ],
)
def test_values_in_bash(value: Any, line: str) -> None:
    assert assigned(value, "bash") == line


# ---- The others, by the texts they are


def test_one_notebook_of_values_in_each_language() -> None:
    values = {"a": "é$x\n\"'", "b": [1, 2], "c": {"k": None}, "d": True, "e": -0.5}
    assert [
        translate(values, language).splitlines()[1:]
        for language in ("r", "scala", "julia", "matlab", "csharp", "fsharp", "powershell")
    ] == [
        ['a = "é$x\\n\\"\'"', "b = list(1L, 2L)", 'c = list("k" = NULL)', "d = TRUE", "e = -0.5"],
        [
            'val a = "é$x\\n\\"\'"',
            "val b = Seq(1, 2)",
            'val c = Map[String, Any]("k" -> None)',
            "val d = true",
            "val e = -0.5",
        ],
        ['a = "é\\$x\\n\\"\'"', "b = [1, 2]", 'c = Dict("k" => nothing)', "d = true", "e = -0.5"],
        [
            'a = "é$x" + char([10]) + """\'";',
            "b = {1, 2};",
            "c = containers.Map({'k'}, {NaN});",
            "d = true;",
            "e = -0.5;",
        ],
        [
            'var a = "é$x\\n\\"\'";',
            "var b = new [] { 1, 2 };",
            'var c = new System.Collections.Generic.Dictionary<string, object> { { "k", null } };',
            "var d = true;",
            "var e = -0.5;",
        ],
        [
            'let a = "é$x\\n\\"\'"',
            "let b = [ 1; 2 ]",
            'let c = Map.ofList [ ("k", (null: obj)) ]',
            "let d = true",
            "let e = -0.5",
        ],
        ['$a = "é`$x`n`"\'"', "$b = @(1, 2)", "$c = [ordered]@{'k' = $null}", "$d = $true", "$e = -0.5"],
    ]


LATE = dt.datetime(2026, 1, 31, 6, 5, 4, 125000)
TWO_HOURS = LATE.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))


@pytest.mark.parametrize(
    ("language", "value", "line"),
    [
        ("r", None, "x = NULL"),
        ("r", 2**31, "x = 2147483648"),
        ("r", 0.1 + 0.2, "x = 0x1.3333333333334p-2"),
        ("r", 1e300, "x = 0x1.7e43c8800759cp+996"),
        ("r", 0.1, "x = 0.1"),
        ("r", -math.inf, "x = -Inf"),
        ("r", b"\x01", "x = as.raw(c(0x1))"),
        ("r", b"", "x = raw(0)"),
        ("r", (1, "a"), 'x = list(1L, "a")'),
        ("r", dt.datetime(2026, 1, 31, 6, tzinfo=dt.UTC), 'x = as.POSIXct("2026-01-31 06:00:00", tz = "UTC")'),
        ("r", {}, "x = setNames(list(), character(0))"),
        ("r", dt.timedelta(days=1, seconds=1), 'x = as.difftime(86401, units = "secs")'),
        ("r", dt.date(2026, 1, 31), 'x = as.Date("2026-01-31")'),
        ("scala", 2**31, "val x = 2147483648L"),
        ("scala", 2**63, 'val x = BigInt("9223372036854775808")'),
        ("scala", math.nan, "val x = Double.NaN"),
        ("scala", [1, 2.5], "val x = Seq[Any](1, 2.5)"),
        ("scala", (1,), "val x = Tuple1(1)"),
        ("scala", {1, 2}, "val x = Set(1, 2)"),
        ("scala", b"\xff", "val x = Array[Byte](-1)"),
        ("scala", TWO_HOURS, 'val x = java.time.OffsetDateTime.parse("2026-01-31T06:05:04.125000+02:00")'),
        ("scala", FilePath("a"), 'val x = java.nio.file.Paths.get("a")'),
        ("scala", {"a": 1}, 'val x = Map("a" -> 1)'),
        ("julia", [1, 2.5], "x = Any[1, 2.5]"),
        ("julia", 2**70, f"x = {2**70}"),
        ("julia", (1,), "x = (1,)"),
        ("julia", (), "x = ()"),
        ("julia", [], "x = Any[]"),
        ("julia", {1: 2, "a": 3}, 'x = Dict{Any, Any}(1 => 2, "a" => 3)'),
        ("julia", LATE, "x = Dates.DateTime(2026, 1, 31, 6, 5, 4, 125)"),
        ("julia", dt.timedelta(microseconds=-1), "x = Dates.Microsecond(-1)"),
        ("julia", {2, 1}, "x = Set([1, 2])"),
        ("julia", b"\x01", "x = UInt8[0x01]"),
        ("matlab", None, "x = NaN;"),
        ("matlab", 'a"b', 'x = "a""b";'),
        ("matlab", {"a'\n": [1]}, "x = containers.Map({['a''' char([10]) '']}, {{1}});"),
        ("matlab", LATE, "x = datetime(2026, 1, 31, 6, 5, 4, 125);"),
        ("matlab", {}, "x = containers.Map();"),
        ("matlab", b"\x01\x02", "x = uint8([1 2]);"),
        ("octave", 'a"\n\\', 'x = "a\\"\\012\\\\";'),
        ("csharp", None, "object x = null;"),
        ("csharp", [1, 2**40], "var x = new [] { 1L, 1099511627776L };"),
        ("csharp", [1, "a"], 'var x = new object[] { 1, "a" };'),
        ("csharp", (1, None), "var x = (1, (object)null);"),
        (
            "csharp",
            TWO_HOURS,
            "var x = new System.DateTimeOffset(2026, 1, 31, 6, 5, 4, System.TimeSpan.FromMinutes(120.0)).AddTicks(1250000L);",
        ),
        ("csharp", dt.time(6, 5), "var x = new System.TimeOnly(6, 5, 0);"),
        ("csharp", 2**70, f'var x = System.Numerics.BigInteger.Parse("{2**70}");'),
        ("fsharp", None, "let x = None"),
        ("fsharp", [1, None], "let x = [ box (1); (null: obj) ]"),
        ("fsharp", {1, 2}, "let x = set [ 1; 2 ]"),
        ("fsharp", dt.timedelta(seconds=1), "let x = System.TimeSpan.FromTicks(10000000L)"),
        ("fsharp", b"\x01", "let x = [| 1uy |]"),
        ("powershell", "it\u2019s $(x)", "$x = 'it\u2019\u2019s $(x)'"),
        ("powershell", [[1]], "$x = @(, @(1))"),
        ("powershell", 2**63, "$x = [bigint]::Parse('9223372036854775808')"),
        ("powershell", -(2**63), "$x = [long]::MinValue"),
        ("powershell", math.inf, "$x = [double]::PositiveInfinity"),
        ("powershell", "\x1b", '$x = "`u{1b}"'),
        ("powershell", dt.date(2026, 1, 31), "$x = [System.DateOnly]::new(2026, 1, 31)"),
        ("javascript", {"__proto__": [1, None]}, 'var x = {["__proto__"]: [1, null]};'),
        ("typescript", b"\x01", "var x = new Uint8Array([1]);"),
    ],
)
def test_values_in_other_languages(language: str, value: Any, line: str) -> None:
    assert assigned(value, language) == line


def unquoted(line: str, language: str) -> str:
    """Read a string as the language does, by its own rules of what ends one; fails on whatever is not one string."""
    text = re.sub(r"^(?:x=|(?:val |var |let |\$)?x = )", "", line)
    text = text.removesuffix(";") if language in ("matlab", "octave", "csharp", "javascript") else text
    if language == "powershell" and text.startswith("'"):
        assert re.fullmatch("'(?:[^'\u2018-\u201b]|(['\u2018-\u201b])\\1)*'", text)
        return re.sub("(['\u2018-\u201b])\\1", "\\1", text[1:-1])
    if language == "powershell":
        assert re.fullmatch('"(?:[^"`$\u201c-\u201e]|`u\\{[0-9a-f]+\\}|`.)*"', text)
        return re.sub(
            r"`(u\{([0-9a-f]+)\}|.)",
            lambda m: chr(int(m[2], 16)) if m[2] else {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}.get(m[1], m[1]),
            text[1:-1],
        )
    if language == "matlab":
        pieces = re.fullmatch(
            r'("(?:[^"]|"")*"|char\(\[[0-9 ]+\]\))(?: \+ ("(?:[^"]|"")*"|char\(\[[0-9 ]+\]\)))*', text
        )
        assert pieces is not None
        found = re.finditer(r'"((?:[^"]|"")*)"|char\(\[([0-9 ]+)\]\)', text)
        return "".join(
            "".join(chr(int(each)) for each in m[2].split()) if m[2] else m[1].replace('""', '"') for m in found
        )
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', text)
    if language == "julia":
        assert not re.search(r"(?<!\\)(?:\\\\)*\$", text)
        text = re.sub(r"\\(.)", lambda m: "$" if m[1] == "$" else m[0], text)
    # Python reads these escapes as they do.
    return ast.literal_eval(text)


@pytest.mark.generated
@given(st.sampled_from([each for each in LANGUAGES if each not in ("python", "bash", "typescript")]), HOSTILE)
def test_text_in_other_languages_is_one_string_on_one_line(language: str, text: str) -> None:
    if not fits("x", text, language):
        assert re.search("[\x00\ud800-\udfff]", text)
        return
    line = assigned(text, language)
    assert not re.search("[\x00-\x1f\x85\u2028\u2029]", line) or language == "octave"
    assert unquoted(line, language) == text


@pytest.mark.generated
@given(st.sampled_from(LANGUAGES), st.dictionaries(st.sampled_from("xyz"), VALUES))
def test_any_values_are_written_or_refused_by_name(language: str, values: dict[str, Any]) -> None:
    try:
        source = translate(values, language)
    except BadInput as error:
        assert error.details["parameter"] in values
        return
    assert source.count("\n") >= len(values) + 1
    assert translate(values, language) == source


SAMPLES = ["a'b\"\\\n\t$x`", "é🦊\u2028\x01\x85", "", "%s #{x} \\u0041"]


@pytest.mark.slow
def test_r_itself_reads_the_values_back() -> None:
    numbers = [0.1 + 0.2, 1e300, 5e-324, -0.5, 2.0**60]
    checks = [
        f"identical(utf8ToInt(x[[{n}]]), c({', '.join(f'{ord(char)}L' for char in text)}))"
        for n, text in enumerate(SAMPLES, 1)
        if text
    ]
    checks += [f"y[[{n}]] == {each.hex()}" for n, each in enumerate(numbers, 1)]
    script = translate({"x": SAMPLES, "y": numbers}, "r") + f"stopifnot({', '.join(checks)})\n"
    subprocess.run(["Rscript", "-e", script], check=True, capture_output=True)


@pytest.mark.slow
def test_javascript_itself_reads_the_values_back() -> None:
    values = {"x": SAMPLES, "y": {"__proto__": [1, -0.5, None, True]}}
    script = translate(values, "javascript") + "console.log(JSON.stringify({x, y}))"
    done = subprocess.run([DENO, "run", "-"], input=script.encode(), check=True, capture_output=True)
    assert json.loads(done.stdout) == values


# ---- What is refused


@pytest.mark.parametrize(
    ("language", "value", "type", "why"),
    [
        ("r", 2**60, "int", "2^53"),
        ("r", {1}, "set", "no such values"),
        ("r", dt.time(6), "time", "no such values"),
        ("r", "a\0", "str", "NUL"),
        ("r", LATE, "datetime", "UTC"),
        ("r", {1: 2}, "dict", "keys are text"),
        ("r", "\ud800", "str", "half a character"),
        ("r", {"": 1}, "dict", "empty"),
        ("scala", (), "tuple", "1 to 22"),
        ("scala", tuple(range(23)), "tuple", "1 to 22"),
        ("julia", TWO_HOURS, "datetime", "zones"),
        ("julia", frozenset((1,)), "frozenset", "no such values"),
        ("matlab", 2**60, "int", "2^53"),
        ("matlab", {1}, "set", "no such values"),
        ("octave", dt.date(2026, 1, 31), "date", "no such values"),
        ("csharp", {1: 2}, "dict", "keys are text"),
        ("fsharp", (1,), "tuple", "two members"),
        ("fsharp", {1, "a"}, "set", "one type"),
        ("powershell", {"a": 1, "A": 2}, "dict", "differ only in case"),
        ("bash", [[1]], "list", "no arrays"),
        ("bash", dt.timedelta(1), "duration", "no such values"),
        ("bash", "a\0", "str", "NUL"),
        ("bash", "\ud800", "str", "half a character"),
        ("bash", "a[$(ls)]", "str", "brackets"),
        ("bash", b"a\0", "bytes", "NUL"),
        ("bash", {"": 1}, "dict", "empty"),
        ("bash", {1}, "set", "no such values"),
        ("javascript", 2**60, "int", "no literal"),
        ("javascript", dt.date(2026, 1, 31), "date", "no such values"),
        ("python", object(), "object", "no such values"),
        ("python", [object()], "object", "no such values"),
        ("csharp", dt.timedelta.max, "duration", "29,000 years"),
    ],
)
def test_what_a_language_cannot_hold_is_refused_with_name_type_and_language(
    language: str, value: Any, type: str, why: str
) -> None:
    message = refused(value, language)
    assert message.startswith(f"parameter 'x': a value of type {type} cannot be written in ")
    assert known_language(message.partition(" cannot be written in ")[2].partition(":")[0]) == language
    assert why in message


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("python", "a b"),
        ("python", "class"),
        ("python", "x; import os"),
        ("python", ""),
        ("python", "1a"),
        ("python", "None"),
        ("r", "_x"),
        ("r", "..1"),
        ("r", "TRUE"),
        ("scala", "val"),
        ("julia", "end"),
        ("matlab", "_x"),
        ("matlab", "é"),
        ("csharp", "int"),
        ("fsharp", "let"),
        ("powershell", "PSHome"),
        ("powershell", "x = 1; $y"),
        ("bash", "x-y"),
        ("bash", "UID"),
        ("bash", "PROMPT_COMMAND"),
        ("bash", "x=1;y"),
        ("javascript", "let"),
        ("python", "x\n"),
        ("bash", "x\n"),
    ],
)
def test_a_name_that_is_no_variable_is_refused(language: str, name: str) -> None:
    with pytest.raises(BadInput, match="no variable can have that name") as caught:
        translate({name: 1}, language)
    assert caught.value.details["parameter"] == name


def test_an_integer_that_python_itself_would_not_read_is_refused() -> None:
    assert "more than 4,000 digits" in refused(10**5000, "python")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_values_nested_too_deeply_are_refused_and_others_are_read() -> None:
    assert executed({"x": nested(79)}) == {"x": nested(79)}
    deep: frozenset[Any] = frozenset[Any]()
    for _ in range(78):
        deep = frozenset((deep,))
    assert executed({"x": deep}) == {"x": deep}
    for language in LANGUAGES:
        refused(nested(5000), language)


def test_a_long_hostile_text_is_written_in_good_time() -> None:
    """What grows with the square of its input ends at the time limit of the tests."""
    for language in LANGUAGES:
        assert len(translate({"x": "['\"\\`" * 50_000 if language != "bash" else "[" * 300_000}, language)) > 300_000


def test_a_language_that_nobody_taught_us_is_named() -> None:
    with pytest.raises(BadInput, match="parameters cannot be written in 'cobol': the languages are python, r,"):
        translate({"x": 1}, "cobol")


@pytest.mark.parametrize(
    ("language", "kernel", "known"),
    [
        ("Python", "", "python"),
        ("R", "ir", "r"),
        ("C#", ".net-csharp", "csharp"),
        ("", "sparkkernel", "scala"),
        ("F#", "", "fsharp"),
        ("cobol", "cob", None),
    ],
)
def test_languages_are_known_by_the_names_that_kernels_use(language: str, kernel: str, known: str | None) -> None:
    assert known_language(language, kernel) == known
