"""Values in the code of a shell: exactly that text, and never run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.errors import BadInput

from .fill_cases import HOSTILE, filled, refused

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
            timeout=120,
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
