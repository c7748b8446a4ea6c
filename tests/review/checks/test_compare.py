"""Which outputs count as the same."""

from __future__ import annotations

import base64
import datetime as dt
import io
from typing import Any

import pytest
from PIL import Image

from quire.core.values import Json
from quire.review.checks.check import rules_for
from quire.review.checks.compare import CompareRules, differences
from quire.review.checks.text_comparison import Interval

NOW = dt.datetime(2026, 11, 19, 10, 0, tzinfo=dt.UTC)
RULES = CompareRules(ran=Interval(start=NOW, end=NOW + dt.timedelta(seconds=2)))
EXACT = rules_for(exact=True)


def printed(text: str, name: str = "stdout") -> Json:
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data: Json) -> Json:
    return {"output_type": "display_data", "data": {name.replace("_", "/"): each for name, each in data.items()}}


def alike(expected: str, actual: str, rules: CompareRules = RULES) -> bool:
    return not differences([printed(expected)], [printed(actual)], rules)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("0.1 + 0.2 = 0.30000000000000004", "0.1 + 0.2 = 0.3"),
        ("1,234.50", "1,234.500"),
        ("at 2019-01-01 08:00:00", "at 2026-11-19 10:00:01"),
        ("2019-01-01T08:00:00.5Z", "2026-11-19T10:00:01.25Z"),
        ("Mon Jan  7 08:00:00 2019", "Thu Nov 19 10:00:01 2026"),
        ("today is 2019-01-01", "today is 2026-11-19"),
        ("since 1546329600.5", "since 1795082401.25"),
        (
            "1.23 ms ± 20 µs per loop (mean ± std. dev. of 7 runs, 1,000 loops each)",
            "998 µs ± 1.5 µs per loop (mean ± std. dev. of 7 runs, 10,000 loops each)",
        ),
        ("Wall time: 3.2 ms", "Wall time: 1min 2s"),
        ("took 0.5 s", "took 12.25 s"),
        ("100%|###| 3/3 [00:01<00:00, 2.1it/s]", "100%|###| 3/3 [00:09<00:00, 0.3it/s]"),
        ("<__main__.A object at 0x7f00aa11>", "<__main__.A object at 0x7f11bb22cc>"),
        ("/home/ada/work/data/x.csv", "/builds/ci/data/x.csv"),
        ("/tmp/tmpabc/x", "/tmp/tmpxyz/y"),
        ("6f1ed002-ab5b-4f2e-9a8f-000000000001", "11111111-2222-4333-8444-555555555555"),
        ("     a\n0  0.30000000000000004\n1  2.00000000000000000", "     a\n0  0.3\n1  2.0"),
        ("a\rb\rdone", "done"),
    ],
)
def test_what_is_another_in_every_run_is_no_difference_and_one_to_the_exact(expected: str, actual: str) -> None:
    assert alike(expected, actual)
    assert not alike(expected, actual, EXACT) or "\r" in expected


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("1", "2"),
        ("1", "1.0"),
        ("0.1", "0.1001"),
        ("-1.5", "1.5"),
        ("born 2019-01-01", "born 2020-01-01"),
        ("2019-01-01T08:00:00", "2026-11-19T12:00:00"),
        ("3 ms", "4 ms"),
        ("0xff", "0xfe"),
        ("/home/ada/x.csv and /a/b.csv", "/home/ada/y.csv and /a/b.csv"),
        ("a  b", "a b"),
        ("one", "one\n"),
        ("d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661"),
        ("<__main__.A object at 0x7f00aa11>", "<__main__.B object at 0x7f11bb22cc>"),
    ],
)
def test_what_says_something_else_differs(expected: str, actual: str) -> None:
    assert not alike(expected, actual)


def test_groups_of_rules_are_chosen_and_left_out() -> None:
    hashes = ("d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661")
    assert alike(*hashes, rules_for(sanitize=["hashes"]))
    assert not alike("took 1 s", "took 2 s", rules_for(no_sanitize=["times"]))
    assert not alike("took 1 s", "took 2 s", rules_for(no_sanitize=["all"]))


def test_the_users_rules_are_read_from_a_file_as_nbval_has_it(tmp_path: Any) -> None:
    rules = tmp_path / "rules.cfg"
    rules.write_text("[names]\nregex: [A-Z][a-z]+ Lovelace\nreplace: NAME\n\nregex: \\d+ (\\w+)\nreplace: N \\1\n")
    own = rules_for(exact=True, sanitize_with=[rules])
    assert alike("Ada Lovelace has 3 cats", "Byron Lovelace has 4 cats", own)
    assert not alike("Ada Lovelace has 3 cats", "Byron Lovelace has 4 dogs", own)


def test_streams_are_joined_however_they_were_cut_and_the_two_are_apart() -> None:
    assert not differences([printed("a\nb\n")], [printed("a\n"), printed("w", "stderr"), printed("b\n")][::2], RULES)
    assert [each.medium for each in differences([printed("a")], [printed("a", "stderr")], RULES)] == [
        "stdout",
        "stderr",
    ]


def test_outputs_that_came_or_went_are_told_with_their_medium() -> None:
    found = differences([shown(text_plain="1")], [shown(text_plain="1", text_html="<b>1</b>")], RULES)
    assert [(each.medium, each.fault) for each in found] == [("text/html", "it was not there before")]
    found = differences([shown(text_plain="1"), shown(text_plain="2")], [shown(text_plain="1")], RULES)
    assert [each.fault for each in found] == ["2 became 1"]


def test_a_data_frame_is_compared_by_its_cells() -> None:
    def table(value: str, style: str) -> str:
        return f"<style>{style}</style><p>Sales</p><table><tr><th>a</th></tr><tr><td>{value}</td></tr></table>"

    before = shown(text_html=table("0.30000000000000004", "x"))
    assert not differences([before], [shown(text_html=table("0.3", "y"))], RULES)
    assert differences([before], [shown(text_html=table("0.4", "x"))], RULES)
    assert differences([before], [shown(text_html=table("0.3", "x").replace("Sales", "Costs"))], RULES)


def test_json_is_compared_by_value() -> None:
    def made(value: Any) -> Json:
        return {"output_type": "display_data", "data": {"application/json": value}}

    assert not differences([made({"a": [0.30000000000000004], "b": 1})], [made({"b": 1, "a": [0.3]})], RULES)
    assert differences([made({"a": [1]})], [made({"a": [1, None]})], RULES)
    assert differences([made({"a": 1})], [made({"a": True})], RULES)


def image(dot: int, size: int = 20) -> str:
    made, file = Image.new("RGB", (size, size), "white"), io.BytesIO()
    for x in range(dot):
        made.putpixel((x % size, x // size), (0, 0, 0))
    made.save(file, "PNG", compress_level=dot % 9)
    return base64.b64encode(file.getvalue()).decode()


def test_images_are_compared_by_pixels_and_by_nbval_not_at_all() -> None:
    def differ(before: str, after: str, rules: CompareRules = RULES) -> list[str]:
        return [each.fault for each in differences([shown(image_png=before)], [shown(image_png=after)], rules)]

    assert not differ(image(0), image(3))
    assert differ(image(0), image(40)) == ["10.00% of the pixels differ, 1.00% may"]
    assert not differ(image(0), image(40), rules_for(image_tolerance=0.2))
    assert differ(image(0), image(0, 30)) == ["20 × 20 pixels became 30 × 30, 1.00% may"]
    assert differ(image(0), "no image at all")
    assert not differ(image(0), image(40), EXACT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["0", "took ", "1 s ± ", "[00:01<", "/a", "a-", "<ipykernel-", 'id="', "1,111", "id='a0a0a0"]
)
def test_no_output_takes_long_whatever_is_in_it(piece: str) -> None:
    # With a rule that looks at all of it from each of its characters, this would take minutes.
    text = piece * (400_000 // len(piece))
    assert not alike(text, text + "x", rules_for(sanitize=["all"]))
