"""Values in SQL and in languages that are read only as far as their literals."""

from __future__ import annotations

import datetime as dt
import math
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput

from .fill_cases import HOSTILE, filled, refused

LANGUAGES = ("python", "sql", "bash", "r", "julia", "javascript", "scala", "matlab", "powershell", "haskell")


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
