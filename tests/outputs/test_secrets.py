"""Secrets are removed before anything is kept (rule 16), also when a value arrives in pieces."""

from __future__ import annotations

import ast
import base64
import html
import json
import re
import shlex
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.events import Display, Fault, OutputAdded, RunFinished
from quire.core.ids import ExecutionId
from quire.outputs.secret_forms import SHORTEST
from quire.outputs.secrets import Remover, has_mark

KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END PRIVATE KEY-----\n"


def passed_on(remover: Remover, *pieces: str) -> str:
    """What comes out of a stream, its end included."""
    return "".join(remover.feed("stdout", piece) for piece in pieces) + remover.flush("stdout")


def test_a_secret_is_replaced_by_the_name_of_its_variable() -> None:
    remover = Remover({"TOKEN": "hunter2!", "OTHER": "letmein"})
    assert passed_on(remover, "a hunter2! b letmein\n") == "a [secret TOKEN] b [secret OTHER]\n"


def test_only_what_may_begin_a_secret_is_held_back() -> None:
    remover = Remover({"TOKEN": "hunter2!"})
    assert remover.feed("stdout", "the hunt") == "the "
    assert remover.feed("stderr", "er2!") == "er2!", "streams are apart"
    assert remover.feed("stdout", "er") == ""
    assert remover.feed("stdout", "s") == "hunters"
    assert remover.feed("stdout", "hunter2") == ""
    assert remover.feed("stdout", "!") == "[secret TOKEN]"
    assert remover.feed("stdout", "h") == ""
    assert remover.flush("stdout") == "h"
    assert remover.flush("stdout") == ""


def test_what_was_dropped_does_not_come_back() -> None:
    remover = Remover({"TOKEN": "hunter2!"})
    remover.feed("stdout", "hunter")
    remover.drop("stdout")
    remover.drop("stdout")
    assert passed_on(remover, "2!") == "2!"


def test_of_a_secret_and_its_beginning_the_longer_is_meant() -> None:
    remover = Remover({"SHORT": "abcd", "LONG": "abcdef"})
    assert passed_on(remover, "abcd", "ef") == "[secret LONG]"
    assert passed_on(remover, "abcd", "xf") == "[secret SHORT]xf"
    assert passed_on(remover, "abcd", "e") == "[secret SHORT]e"
    assert passed_on(remover, "abcdabcdef") == "[secret SHORT][secret LONG]"


def test_secrets_that_overlap_leave_none_whole() -> None:
    assert passed_on(Remover({"A": "abcd", "B": "cdef"}), "ab", "cdef") == "[secret A]ef"


@pytest.mark.parametrize("value", ["", "   ", "abc", " a \n"])
def test_a_secret_that_is_too_short_is_named_with_the_reason(value: str) -> None:
    remover = Remover({"PIN": value, "TOKEN": "hunter2!"})
    assert list(remover.ignored) == ["PIN"]
    assert "PIN" in remover.ignored["PIN"]
    assert remover.clean("abc a hunter2!") == "abc a [secret TOKEN]"


def test_without_secrets_everything_passes_as_it_is() -> None:
    remover = Remover({})
    value = {"a": ["b", 1, None]}
    assert remover.clean(value) is value
    assert remover.feed("stdout", "text") == "text"
    assert remover.flush("stdout") == ""


ODD_SECRET = 'it\'s a "pass\\word" <&> é🦊/%+\ttab'


@pytest.mark.parametrize(
    "text",
    [
        ODD_SECRET,
        json.dumps(ODD_SECRET),
        json.dumps(ODD_SECRET, ensure_ascii=False),
        json.dumps({"key": [ODD_SECRET]}),
        repr(ODD_SECRET),
        ascii(ODD_SECRET),
        repr({"key": ODD_SECRET, "other": '"'}),
        repr('"' + ODD_SECRET + "'"),
        repr(ODD_SECRET.encode()),
        html.escape(ODD_SECRET),
        html.escape(ODD_SECRET, quote=False),
        f"https://ada:{quote(ODD_SECRET, safe='')}@example.org/",
        f"https://example.org/{quote(ODD_SECRET)}",
        f"https://example.org/?key={quote_plus(ODD_SECRET)}",
        re.sub("%..", lambda match: match[0].lower(), quote(ODD_SECRET, safe="")),
        json.dumps(json.dumps({"key": ODD_SECRET})),
        repr(json.dumps([ODD_SECRET])),
        json.dumps(html.escape(ODD_SECRET)),
        html.escape(json.dumps(ODD_SECRET)),
        json.dumps(ODD_SECRET).replace("/", r"\/"),
        html.escape(ODD_SECRET).replace("&#x27;", "&#39;"),
        shlex.quote(ODD_SECRET),
        ODD_SECRET.encode().hex(),
        ODD_SECRET.encode().hex().upper(),
    ],
)
def test_a_secret_is_found_in_the_forms_that_text_gives_it(text: str) -> None:
    cleaned = Remover({"TOKEN": ODD_SECRET}).clean(text)
    assert "[secret TOKEN]" in cleaned
    assert "pass" not in cleaned
    assert b"pass".hex() not in cleaned.lower()


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("behind", ["", "x", "\n"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_found_in_base64_at_any_offset(before: str, behind: str, encode: Any) -> None:
    secret = "k8?>s€cret~~"
    text: str = encode(f"{before}{secret}{behind}".encode()).decode()
    cleaned = Remover({"TOKEN": secret}).clean(f"Authorization: Basic {text}")
    assert "[secret TOKEN]" in cleaned
    left = cleaned.replace("Authorization: Basic ", "").replace("[secret TOKEN]", "")
    assert len(left) <= len(text) - len(secret.encode()) * 4 // 3 + 2


def test_short_secrets_are_not_looked_for_in_base64_or_every_picture_would_break() -> None:
    picture = base64.b64encode(b"PIN 4711 " * 100).decode()
    assert Remover({"PIN": "4711"}).clean(picture) == picture


def test_the_lines_of_a_key_are_secret_each() -> None:
    remover = Remover({"KEY": KEY})
    assert passed_on(remover, KEY) == "[secret KEY]\n"
    assert remover.clean("  MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n") == "  [secret KEY]\n"
    assert remover.clean("short") == "short"
    assert remover.clean(base64.b64encode(KEY.encode()).decode()).count("[secret KEY]") == 1


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("postgresql://app:s3cr3t%2Fword@db/sales", "s3cr3t%2Fword"),
        ("postgresql://app:s3cr3t%2Fword@db/sales", "s3cr3t/word"),
        (json.dumps({"id": "x", "nested": [{"private_key": KEY}]}), KEY),
        (json.dumps({"id": "x", "nested": [{"private_key": KEY}]}), KEY.splitlines()[1]),
        (json.dumps({"apiToken": "0123456789"}), "0123456789"),
    ],
)
def test_what_is_secret_in_a_url_or_an_object_is_so_on_its_own(value: str, part: str) -> None:
    assert Remover({"GIVEN": value}).clean(f"<{part}>").startswith("<[secret GIVEN]")


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("postgresql://postgres:postgres@db/sales", "postgres"),
        ("postgresql://app:short@db/sales", "short"),
        ("https://example.org/hooks/0123456789", "https://example.org/"),
        (json.dumps({"project_id": "quarterly-reports", "token": "0123456789"}), "quarterly-reports"),
        ("{not json at all", "not json"),
    ],
)
def test_what_is_no_secret_in_it_stays(value: str, part: str) -> None:
    assert Remover({"GIVEN": value}).clean(f"<{part}>") == f"<{part}>"


def test_colours_and_tags_within_a_secret_do_not_hide_it() -> None:
    remover = Remover({"TOKEN": "hunter2!"})
    assert passed_on(remover, "a \x1b[1;3", "1mhun\x1b[0m", "ter2", "! b") == "a \x1b[1;31m[secret TOKEN]\x1b[0m b"
    assert passed_on(remover, "\x1b[31mhun\x1b[0mt\x1b") == "\x1b[31mhun\x1b[0mt\x1b"
    shown = '<b class="x">hun</b><i>ter2</i>! and <u>hunter</u>s'
    assert remover.clean(shown) == '<b class="x">[secret TOKEN]</b><i></i> and <u>hunter</u>s'
    assert remover.clean("a < b and c > hunter2!") == "a < b and c > [secret TOKEN]"
    assert Remover({"TAG": "a<b>c!"}).clean("a<b>c! abc!") == "[secret TAG] abc!"


def test_text_that_a_terminal_put_together_keeps_its_length() -> None:
    remover = Remover({"TOKEN": "hunter2!"})
    text = "the hunter2! is"
    assert remover.masked(text) == "the ████████ is"
    assert remover.masked("the hunter") == "the hunter"


def test_bytes_keep_their_length_so_that_the_rest_can_be_read() -> None:
    data = b"PAR1" + bytes(300) + b"hunter2!" + bytes(300)
    cleaned = Remover({"TOKEN": "hunter2!"}).clean(base64.b64encode(data).decode())
    assert isinstance(cleaned, str)
    assert base64.b64decode(cleaned) == data.replace(b"hunter2!", b"********")


@pytest.mark.parametrize("secret", ["hunter2!", "secret", "4711"])
def test_what_a_secret_was_removed_from_can_be_told(secret: str) -> None:
    remover = Remover({"TOKEN": secret})
    for value in (secret, f"a {secret} b", {secret: 1}, {"a": ["b", [secret]]}):
        assert has_mark(remover.clean(value))
    for value in ("a [b] secret TOKEN", 4711, None, {"a": ["b", [True]]}, "", "█ ██"):
        assert not has_mark(value)


def test_of_an_event_what_it_tells_is_cleaned_and_what_it_refers_to_stays() -> None:
    remover = Remover({"TOKEN": "hunter2!", "PIN": "4711"})
    display = Display(data={"text/plain": "hunter2!", "n": 4711}, display_id="hunter2!", count=4711)
    added = OutputAdded(execution=ExecutionId("hunter2!"), epoch=4711, chunk=4711, output=display)
    assert remover.clean_event(added) == OutputAdded(
        execution=ExecutionId("hunter2!"),
        epoch=4711,
        chunk=4711,
        output=Display(
            data={"text/plain": "[secret TOKEN]", "n": "[secret PIN]"}, display_id="[secret TOKEN]", count=4711
        ),
    )
    fault = Fault(ename="hunter2!", evalue="a hunter2!", traceback=("hunter2!",))
    finished = remover.clean_event(RunFinished(status="error", fault=fault))
    assert finished.fault == Fault(ename="[secret TOKEN]", evalue="a [secret TOKEN]", traceback=("[secret TOKEN]",))
    other = RunFinished(status="success")
    assert remover.clean_event(other) is other


def test_values_of_any_depth_are_cleaned_names_included() -> None:
    remover = Remover({"TOKEN": "hunter2!", "PIN": "4711"})
    value = {"hunter2!": ["hunter2!", {"a": ("hunter2!",)}], "n": [4711, 47110, 4711.0, True, None]}
    assert remover.clean(value) == {
        "[secret TOKEN]": ["[secret TOKEN]", {"a": ["[secret TOKEN]"]}],
        "n": ["[secret PIN]", 47110, 4711.0, True, None],
    }
    assert remover.clean(10**400) == 10**400


@pytest.mark.parametrize("value", ["secret", "[secret", "]abc", "abc[", "TOKEN", "t TO"])
def test_a_secret_that_could_be_read_into_the_mark_gets_another(value: str) -> None:
    cleaned = passed_on(Remover({"TOKEN": value}), f"abc{value}abc{value}{value}")
    assert value not in cleaned
    assert "███" in cleaned


def test_a_mark_does_not_tell_how_long_the_secret_is() -> None:
    assert Remover({"T": "abcd"}).clean("abcd") == Remover({"T": "abcdefgh"}).clean("abcdefgh")


ALPHABET = "ab[]"
SECRETS = st.dictionaries(
    st.sampled_from(["A", "B", "C"]), st.text(ALPHABET, min_size=SHORTEST, max_size=7), min_size=1, max_size=3
)


@pytest.mark.generated
@given(SECRETS, st.text(ALPHABET, max_size=40), st.data())
def test_however_a_text_is_cut_no_secret_comes_out_and_all_else_does(
    secrets: dict[str, str], text: str, data: st.DataObject
) -> None:
    """Rule 16."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    remover = Remover(secrets)
    safe = ""
    for piece in pieces:
        safe += remover.feed("stdout", piece)
        assert not any(secret in safe for secret in secrets.values())
    whole = safe + remover.flush("stdout")
    assert whole == passed_on(remover, text) == remover.clean(text)
    assert not any(secret in whole for secret in secrets.values())


@pytest.mark.generated
@given(SECRETS, st.text(ALPHABET, max_size=30), st.data())
def test_however_a_text_is_cut_and_coloured_no_secret_is_read_in_it(
    secrets: dict[str, str], text: str, data: st.DataObject
) -> None:
    places = data.draw(st.sets(st.integers(0, len(text)), max_size=5))
    coloured = "".join(
        ("\x1b[1;31m" if place in places else "") + text[place : place + 1] for place in range(len(text) + 1)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(coloured)), max_size=6)))
    pieces = [coloured[start:end] for start, end in zip([0, *cuts], [*cuts, len(coloured)], strict=True)]
    remover = Remover(secrets)
    seen = passed_on(remover, *pieces)
    assert seen.count("\x1b[1;31m") == len(places)
    read = seen.replace("\x1b[1;31m", "")
    assert not any(secret in read for secret in secrets.values())
    assert read == remover.clean(text)


@pytest.mark.generated
@given(st.text(min_size=SHORTEST, max_size=20).filter(lambda text: len(text.strip()) >= SHORTEST), st.text(max_size=5))
def test_any_secret_is_removed_from_text_json_and_literals(secret: str, around: str) -> None:
    remover = Remover({"TOKEN": secret})
    bare = secret.strip()
    for text in (around + secret + around, json.dumps([around, secret]), repr([around, secret])):
        assert bare not in remover.clean(text)
    for read, text in ((json.loads, json.dumps([secret])), (ast.literal_eval, repr([secret]))):
        assert bare not in read(remover.clean(text))[0]
