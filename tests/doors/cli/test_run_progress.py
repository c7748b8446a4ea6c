"""What `quire run` shows: on a real pseudo-terminal, and in pipes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from quire.doors.cli.screen import columns, cut

from ...command import QUIRE, run
from ...terminal import LONGEST_SECONDS, OnTerminal, drawn, widest

WAIT = """\
import pathlib, time
def wait(name):
    while not pathlib.Path(name).exists():
        time.sleep(0.02)
"""


def notebook(folder: Path, *cells: str) -> Path:
    path = folder / "book.py"
    path.write_text("\n\n".join(cell if cell.startswith("# %%") else f"# %%\n{cell}" for cell in cells) + "\n")
    return path


def on_terminal(folder: Path, *args: str, width: int = 80, env: dict[str, str] | None = None) -> OnTerminal:
    return OnTerminal(QUIRE, "run", "book.py", *args, at=folder, width=width, env=env)


def test_a_view_moves_while_a_cell_is_silent_and_leaves_a_line_for_each_cell(tmp_path: Path) -> None:
    says = r"print('\x1b]0;owned\x07epoch 1\x1b[2J\tof 9  ' + '日本' * 60, flush=True)"
    notebook(tmp_path, "# %% [markdown]\n# # Sales", WAIT, f'# %% name="fit"\n{says}\nwait("go")', "1 + 1")
    with on_terminal(tmp_path) as terminal:
        shown = terminal.until(lambda screen: "epoch 1    of 9" in screen)
        assert re.search(r" ▸ 3/4 +\S+ s  fit +\S+ s in all\n     epoch 1    of 9  日本", shown)
        # It ticks, though nothing is printed any more.
        terminal.until(lambda screen: len({view[0] for view in drawn(terminal.raw) if "fit" in view[0]}) > 3)
        terminal.resize(40)
        terminal.until(lambda screen: widest(drawn(terminal.raw)[-1]) <= 40)
        assert re.match(r" ▸ 3/4 .* in all$", drawn(terminal.raw)[-1][0])
        (tmp_path / "go").touch()
        assert terminal.end() == 0
    assert re.fullmatch(
        r" ✓ 2/4 +\S+ s  import pathlib, time\n ✓ 3/4 +\S+ s  fit\n ✓ 4/4 +\S+ s  1 \+ 1\n"
        r"success in \S+ s, 3 cells: run \w{26}",
        terminal.screen,
    )
    assert "\x1b]0;" not in terminal.raw and "\x1b[2J" not in terminal.raw
    assert all(widest(view) <= 80 for view in drawn(terminal.raw))


def test_the_end_says_which_cell_failed_where_and_what_to_do(tmp_path: Path) -> None:
    cells = (
        "import json\ndef fit(text):\n    return json.loads(text)",
        '# %% name="model"\nx = 1\nfit("{")',
        "'never'",
    )
    notebook(tmp_path, *cells)
    with on_terminal(tmp_path, env={"NO_COLOR": "1"}) as terminal:
        assert terminal.end() == 1
    shown = terminal.screen
    assert re.search(r" ✗ 2/3 +\S+ s  error  model\n", shown)
    assert re.search(r"quire: cell 2 of 3 \(\w+, model\) raised JSONDecodeError: Expecting property name", shown)
    assert '----> 2 fit("{")' in shown and "return json.loads(text)" in shown
    assert "decoder.py" not in shown and re.search(r"and \d frames of libraries", shown)
    (found,) = re.findall(r"error in \S+ s, 2 cells: run (\w+)", shown)
    assert f"quire output {found} 2\n" in shown and f"quire run book.py --resume {found}" in shown
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.raw)


def test_what_cells_print_scrolls_by_above_the_view(tmp_path: Path) -> None:
    bar = r"for n in range(3): print(f'\rbar {n}', end='', flush=True)"
    notebook(tmp_path, WAIT, f"print('one\\ntwo', flush=True)\n{bar}\nwait('go')", "2")
    with on_terminal(tmp_path, "--log-output") as terminal:
        shown = terminal.until(lambda screen: "     bar 2" in screen)
        assert re.search(r"\none\ntwo\n ▸ 2/3 ", shown)
        (tmp_path / "go").touch()
        assert terminal.end() == 0
    assert re.search(r"\none\ntwo\nbar 2\n ✓ 2/3 +\S+ s  print\(", terminal.screen)


def test_a_long_notebook_leaves_a_line_only_where_it_took_long(tmp_path: Path) -> None:
    notebook(tmp_path, *(f"x = {number}" for number in range(40)))
    with on_terminal(tmp_path) as terminal:
        assert terminal.end() == 0
    (more,) = re.findall(r" ✓ (\d+) more, each ok within a second", terminal.screen)
    assert int(more) + len(re.findall(r"^ ✓ +\d+/40 ", terminal.screen, re.MULTILINE)) == 40


def test_a_terminal_that_can_redraw_nothing_gets_lines(tmp_path: Path) -> None:
    notebook(tmp_path, r"print('50%\r100%')", "2")
    with on_terminal(tmp_path, "--log-output", env={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 0
    assert re.match(r"50%\n100%\n   1/2  ok +\S+ s  print\(.*\n   2/2  ok +\S+ s  2\nsuccess in ", terminal.screen)
    assert "\x1b" not in terminal.raw


def test_in_a_pipe_there_is_a_line_for_each_cell_and_stdout_has_the_outcome_only(tmp_path: Path) -> None:
    secret = '# /// script\n# dependencies = []\n# [tool.quire]\n# secrets = ["KEY"]\n# ///\nimport os\n'
    spelled = "for letter in os.environ['KEY']: print(letter, end='', flush=True)"
    notebook(tmp_path, f"{secret}{spelled}", "y = 0\n1 / y")
    env = {"KEY": "hunter2-hunter2"}
    done = run("run", "book.py", "--log-output", "--json", at=tmp_path, env=env)
    assert json.loads(done.stdout)["status"] == "error"
    assert re.fullmatch(
        r"(.*)\n   1/2  ok .*\n   2/2  error .*\nquire: cell 2 of 2 \(\w+\) raised ZeroDivisionError: division by zero\n"
        r"  line 2: 1 / y\nerror in .*\n  what it showed .*\n  to run it again .*\n",
        done.stderr,
    )
    assert "hunter2" not in done.stderr and "\x1b" not in done.stderr
    quiet = run("run", "book.py", "--no-progress-bar", at=tmp_path, env=env)
    assert quiet.returncode == 1 and quiet.stdout == "" and quiet.stderr.startswith("quire: cell 2 of 2")


def test_whether_anybody_reads_is_nothing_to_the_run(tmp_path: Path) -> None:
    flood = "for n in range(40_000): print('line', n, 'x' * 80)"
    notebook(tmp_path, flood, "import pathlib; pathlib.Path('done').touch()")
    with on_terminal(tmp_path, "--log-output") as terminal:
        # Nothing is read here: what the terminal does not take must not hold up the cells.
        deadline = time.monotonic() + LONGEST_SECONDS
        while not (tmp_path / "done").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert terminal.end() == 0
    assert "success in " in terminal.screen
    # A reader that leaves: the status is the run's own.
    notebook(tmp_path, "1", "1 / 0")
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w") as closed:
        done = subprocess.run([QUIRE, "run", "book.py", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=closed)
    assert (done.returncode, json.loads(done.stdout)["failed_cell"]["index"]) == (1, 1)


def test_a_cell_may_ask_and_what_is_secret_is_not_shown(tmp_path: Path) -> None:
    asks = "name = input('who\\x1b[5m? ')\nimport getpass\nkey = getpass.getpass('key? ')\nprint(name, len(key))"
    notebook(tmp_path, asks)
    with on_terminal(tmp_path, "--log-output") as terminal:
        terminal.until(lambda screen: screen.endswith("who?"))
        terminal.type("Ada\n")
        terminal.until(lambda screen: screen.endswith("key?"))
        terminal.type("hunter2\n")
        assert terminal.end() == 0
    assert "who? Ada\n" in terminal.screen and "Ada 7\n" in terminal.screen
    assert "hunter2" not in terminal.raw and "\x1b[5m" not in terminal.raw


def test_ctrl_c_ends_the_run_and_the_view(tmp_path: Path) -> None:
    notebook(tmp_path, "print('waiting', flush=True)\nimport time\ntime.sleep(600)")
    with on_terminal(tmp_path) as terminal:
        terminal.until(lambda screen: "     waiting" in screen)
        terminal.type("\x03")
        assert terminal.end() == 130
    assert " ✗ 1/1 " in terminal.screen and "▸" not in terminal.screen
    assert re.search(r"quire: cell 1 of 1 \(\w+\) was running when the run was cancelled\n", terminal.screen)


def test_a_run_that_never_began_leaves_no_view(tmp_path: Path) -> None:
    notebook(tmp_path, "1")
    with on_terminal(tmp_path, "-k", "no-such-kernel") as terminal:
        assert terminal.end() == 2
    assert terminal.screen.startswith("quire: ") and "▸" not in terminal.screen


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("é" * 9, 4, "ééé…"),
    ],
)
def test_a_text_is_cut_by_the_columns_it_takes(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert columns(shown) <= width
