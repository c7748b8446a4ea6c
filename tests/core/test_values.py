"""Values that JSON cannot carry travel as tagged values."""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import PurePosixPath
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.errors import BadInput
from quire.core.values import FilePath, tag, untag

pytestmark = pytest.mark.generated

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates()
    | st.times()
    | st.datetimes(timezones=st.none() | st.just(dt.UTC))
    | st.timedeltas()
)
HASHABLE = st.integers() | st.text() | st.binary() | st.tuples(st.integers(), st.text())
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES | st.frozensets(HASHABLE, max_size=3) | st.sets(HASHABLE, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.just("$int") | st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_survives_json(value: Any) -> None:
    again = untag(json.loads(json.dumps(tag(value), allow_nan=False)))
    assert again == value
    assert type(again) is type(value)


@given(VALUES)
def test_what_is_tagged_holds_no_number_that_javascript_would_change(value: Any) -> None:
    def look(part: Any) -> None:
        if isinstance(part, int) and not isinstance(part, bool):
            assert abs(part) <= 2**53
        if isinstance(part, dict):
            part = list(cast("dict[str, Any]", part).values())
        for inner in cast("list[Any]", part) if isinstance(part, list) else ():
            look(inner)

    look(tag(value))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan]])
def test_what_is_not_finite_travels_by_name(value: Any) -> None:
    assert repr(untag(json.loads(json.dumps(tag(value), allow_nan=False)))) == repr(value)


def test_a_number_of_another_library_is_a_number() -> None:
    class Float(float):
        """As numpy's: a float, and no encoder knows it."""

    assert [type(tag(value)) for value in (Float(1.5), [Float(2)][0])] == [float, float]
    assert tag(Float("nan")) == {"$float": "nan"}


def test_keys_of_any_type_are_left_as_they_are() -> None:
    assert untag({1: 2}) == {1: 2}
    assert untag({"a": {(1, 2): [3]}}) == {"a": {(1, 2): [3]}}


def test_a_path_is_a_path_again() -> None:
    assert untag(tag(PurePosixPath("a/b"))) == FilePath("a/b")
    assert isinstance(untag(tag(FilePath("a/b"))), FilePath)


def test_what_cannot_be_kept_is_named() -> None:
    with pytest.raises(BadInput, match="object"):
        tag(object())


@pytest.mark.parametrize(
    "sent", [{"$int": "x"}, {"$nope": 1}, {"$bytes": "*"}, {"$float": "huge"}, {"$dict": 1}, {"$date": "x"}]
)
def test_a_tag_that_makes_no_sense_is_bad_input(sent: Any) -> None:
    with pytest.raises(BadInput):
        untag(sent)
