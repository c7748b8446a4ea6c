"""Paths with parameters in them: as papermill fills them, and never out of their folder."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.values import FilePath
from quire.runs.locations import fill_path

NOW = dt.datetime(2026, 1, 31, 6, 5, 4, tzinfo=dt.timezone(dt.timedelta(hours=2)))


def filled(template: str, **values: Any) -> str:
    return fill_path(template, values, run="01J", now=NOW)


def refused(template: str, **values: Any) -> str:
    with pytest.raises(BadInput) as caught:
        filled(template, **values)
    return str(caught.value)


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("out.ipynb", "out.ipynb"),
        ("s3://bucket/{region}/{top}.ipynb", "s3://bucket/north/5.ipynb"),
        ("{region}_{top:03d}_{share:.2f}.ipynb", "north_005_0.25.ipynb"),
        ("{day:%Y/%m}/{day}.ipynb", "2026/10/2026-10-01.ipynb"),
        ("{pm[run_uuid]} {pm.run_uuid} {run_uuid}", "01J 01J 01J"),
        ("{current_datetime_local:%H%M} {pm[current_datetime_utc]:%H%M}", "0605 0405"),
        ("{pm[current_datetime_utc]}", "2026-01-31 04:05:04+00:00"),
        ("{many[0]}{box[a]}{box[b][1]}", "x12"),
        ("{{region}}/{region!s:>6}", "{region}/ north"),
        ("../{region}/./x", "../north/./x"),
        ("{yes}{none}", "TrueNone"),
        ("{where}.html", "a b.html"),
    ],
)
def test_a_path_is_filled_as_papermill_does(template: str, path: str) -> None:
    values: dict[str, Any] = {
        "region": "north",
        "top": 5,
        "share": 0.25,
        "day": dt.date(2026, 10, 1),
        "many": ["x"],
        "yes": True,
        "none": None,
    }
    assert filled(template, **values, box={"a": 1, "b": [0, 2]}, where=FilePath("a b")) == path


def test_a_parameter_has_the_last_word_on_its_name() -> None:
    assert filled("{run_uuid}{pm}", run_uuid="mine", pm="own") == "mineown"


@pytest.mark.parametrize("value", ["a/b", "..", "../x", "a\\b", "/etc/passwd", "", ".", "a\0", "a\nb", "\ud800"])
def test_a_value_stays_inside_the_folder(value: str) -> None:
    assert "'runs/{x}/a.ipynb'" in refused("runs/{x}/a.ipynb", x=value)
    refused("runs/{x}/a.ipynb", x=FilePath(value))


def test_values_do_not_climb_together_and_become_no_stream() -> None:
    assert "'..'" in refused("runs/{x}{y}/a", x=".", y=".")
    assert "'..'" in refused("runs/.{x}/a", x=".")
    assert "'-'" in refused("{x}", x="-")
    assert filled("{x}", x="a-b") == "a-b"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{x.__class__}", "name a parameter"),
        ("{x.real}", "name a parameter"),
        ("{pm.__class__}", "there is no '__class__' in it"),
        ("{x[0].y}", "name a parameter"),
        ("{}", "name a parameter"),
        ("{0}", "name a parameter"),
        ("{x", "written twice"),
        ("x}", "written twice"),
        ("{x!r}", "behind a `!`"),
        ("{x:{y}}", "not for paths"),
        ("{x:99999999d}", "not for paths"),
        ("{x:%Y}", "cannot be formatted"),
        ("{box}", "a value of type dict"),
        ("{box[9]}", "there is no '9' in it"),
        ("{x[0]}", "there is no '0' in it"),
        ("{many[99]}", "there is no '99' in it"),
        ("{many[-1]}", "there is no '-1' in it"),
    ],
)
def test_nothing_but_values_is_read(template: str, why: str) -> None:
    assert why in refused(template, x=5, y=1, box={}, many=[1])


def test_a_missing_name_tells_the_known_ones() -> None:
    assert refused("{regoin}.ipynb", region="a") == (
        "path '{regoin}.ipynb': {regoin}: no such parameter. Known are run_uuid, current_datetime_local, current_datetime_utc, region."
        " Did you mean 'region'?"
    )


@pytest.mark.generated
@given(st.text("{}ab./-[]!:%d0") | st.text(), st.text("./ab-") | st.text(), st.integers() | st.floats() | st.text("./"))
def test_any_template_with_any_value_is_filled_or_refused(template: str, a: str, b: Any) -> None:
    try:
        path = filled(template, a=a, b=b)
    except BadInput:
        return
    assert path.split("/").count("..") <= template.split("/").count("..")


@pytest.mark.generated
@given(st.text("./ab-\\") | st.text())
def test_no_value_leaves_its_folder(value: str) -> None:
    try:
        path = filled("runs/{x}/{x}.ipynb", x=value)
    except BadInput:
        return
    assert path == f"runs/{value}/{value}.ipynb"
    assert path.count("/") == 2
    assert value not in ("", ".", "..")
