"""The table of what goes wrong in a run, row by row, with real processes.

Each time: the output is a valid notebook, the log tells the true status, a cell that never
ran is never called done, the message names the cell, and no kernel is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .faulty_notebook import DEADLINE_SECONDS, QUIRE, Faulty, stand_still, wait_until
from .server import Folder

BEGUN = "open('begun', 'w').close()"
SLEEP = f"print('so far', flush=True)\n{BEGUN}\nimport time\ntime.sleep(600)"


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    if sys.platform != "linux":
        pytest.skip("processes are found in /proc")
    return Faulty(tmp_path)


def failed(told: Any, status: str) -> Any:
    assert told["status"] == status
    return told["failed_cell"]


def check_left(faulty: Faulty, told: Any, states: list[str], statuses: list[str]) -> None:
    assert faulty.states(told["run"]) == states
    assert faulty.statuses() == statuses
    faulty.is_left_alone()


def test_a_cell_raises(faulty: Faulty) -> None:
    faulty.write("x = 1", "print('so far')\n1 / 0", "print('never')")
    done = faulty.run()
    assert done.returncode == 1
    told = json.loads(done.stdout)
    cell = failed(told, "error")
    assert (cell["index"], cell["ename"], cell["evalue"]) == (1, "ZeroDivisionError", "division by zero")
    assert "ZeroDivisionError" in cell["traceback"][-1]
    assert "cell-2" in done.stderr and "ZeroDivisionError" in done.stderr
    book = faulty.book()
    # Papermill's marks stand at the top and before the cell; the index does not count them.
    assert "papermill-error-cell-tag" in book.cells[0].metadata.tags
    assert book.metadata.papermill.exception is True
    check_left(faulty, told, ["ok", "error", "skipped"], ["completed", "failed", "pending"])


STORM = f"""
import os, signal
{BEGUN}
for n in range(100_000):
    print(n, flush=True)
    if n == 500:
        os.kill(os.getpid(), signal.SIGKILL)
"""
# A kernel hands what it flushed to a thread that sends it: it leaves when the log has it.
LEAVES = f"""
import os, time
print('so far', flush=True)
{BEGUN}
while not os.path.exists('recorded'):
    time.sleep(0.01)
os._exit(3)
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        pytest.param(LEAVES, "exit status 3", id="os._exit"),
        pytest.param(STORM, "SIGKILL", id="SIGKILL while printing", marks=pytest.mark.slow),
    ],
)
def test_a_kernel_dies(faulty: Faulty, how: str, why: str) -> None:
    faulty.write("x = 1", how, "print('never')")
    with faulty.running() as client:
        wait_until(faulty.has_recorded_text, "what the cell printed is not in the log")
        (faulty.folder / "recorded").touch()
        out, err = client.communicate(timeout=DEADLINE_SECONDS)
    assert client.returncode == 1
    told = json.loads(out)
    cell = failed(told, "dead_kernel")
    assert cell["index"] == 1 and why in cell["evalue"]
    assert "cell-2" in err
    assert faulty.text(1) != "", "what arrived before is kept"
    check_left(faulty, told, ["ok", "dead_kernel", "skipped"], ["completed", "failed", "pending"])


@pytest.mark.slow  # tests/actors/runtime/test_run_notebook.py has it; also the first cell has to be over in time
def test_a_cell_swallows_the_interrupt_at_its_timeout(faulty: Faulty) -> None:
    stubborn = "import time\nwhile True:\n    try:\n        time.sleep(600)\n    except KeyboardInterrupt:\n        print('no', flush=True)"
    faulty.write("x = 1", stubborn, "print('never')")
    done = faulty.run("--execution-timeout", "5")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert failed(told, "timeout")["index"] == 1
    assert "no" in faulty.text(1)
    check_left(faulty, told, ["ok", "timeout", "skipped"], ["completed", "failed", "pending"])


@pytest.mark.slow  # tests/runs/test_api.py has it; the kernel has to be up in time
def test_the_whole_run_has_a_timeout(faulty: Faulty) -> None:
    faulty.write("x = 1", SLEEP, "print('never')")
    done = faulty.run("--timeout", "20")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert failed(told, "timeout")["index"] == 1
    check_left(faulty, told, ["ok", "timeout", "skipped"], ["completed", "failed", "pending"])


@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGTERM, signal.SIGHUP))]
)
def test_the_client_is_told_to_stop(faulty: Faulty, number: signal.Signals) -> None:
    faulty.write("x = 1", SLEEP, "print('never')")
    status, told, err = faulty.signalled(number)
    assert status == 130
    assert failed(told, "cancelled")["index"] == 1
    assert "cell-2" in err
    assert faulty.text(1).startswith("so far")
    check_left(faulty, told, ["ok", "cancelled", "skipped"], ["completed", "failed", "pending"])


def test_somebody_else_cancels(faulty: Faulty) -> None:
    faulty.write("x = 1", SLEEP, "print('never')")
    with faulty.running() as client:
        listed = json.loads(faulty.quire("runs", "list", "--json").stdout)
        assert [each["status"] for each in listed] == ["running"]
        asked = faulty.quire("cancel", listed[0]["run"], "--why", "wrong month")
        assert asked.returncode == 0, asked.stderr
        out, _ = client.communicate()
    assert client.returncode == 130
    told = json.loads(out)
    assert failed(told, "cancelled")["index"] == 1
    check_left(faulty, told, ["ok", "cancelled", "skipped"], ["completed", "failed", "pending"])
    again = faulty.quire("cancel", told["run"])
    assert again.returncode == 3 and "over" in again.stderr


def test_a_client_that_is_to_outlive_its_terminal_does(faulty: Faulty) -> None:
    """Under nohup the signal of a terminal that is gone is ignored; by us as well."""
    waits = f"{BEGUN}\nimport os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)"
    faulty.write(waits)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with faulty.running() as client:
            os.killpg(client.pid, signal.SIGHUP)
            (faulty.folder / "go").touch()
            out, err = client.communicate()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert client.returncode == 0, err
    assert json.loads(out)["status"] == "success"
    faulty.is_left_alone()


@contextlib.contextmanager
def serving(faulty: Faulty) -> Generator[None]:
    """A server that looks often for what lost its lease."""
    folder = Folder(faulty.folder)
    server = folder.start("--port", "0", "--lease", "1", "--look-every", "0.2")
    try:
        yield
        assert server.end() == 0
    finally:
        folder.close()


def stopped_without_its_lease(client: subprocess.Popen[str], folder: Path) -> bool:
    """Stop a client, and let its leases be over; one that was stopped while it wrote goes on for now."""
    stand_still(client.pid)
    try:
        with contextlib.closing(sqlite3.connect(folder / ".quire" / "quire.db", timeout=1)) as db, db:
            db.execute("UPDATE leases SET ends = 0")
    except sqlite3.OperationalError:
        os.kill(client.pid, signal.SIGCONT)
        return False
    return True


def test_a_client_that_stood_still_goes_on_though_its_lease_had_run_out_and_somebody_looked(faulty: Faulty) -> None:
    """Rule 10. A laptop that slept, or Ctrl-Z: nobody took the run meanwhile."""
    waits = f"{BEGUN}\nimport os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('heard')"
    faulty.write("x = 1", waits)
    with faulty.running() as client:
        wait_until(lambda: stopped_without_its_lease(client, faulty.folder), "it always writes when it is stopped")
        (only,) = json.loads(faulty.quire("runs", "list", "--json").stdout)
        assert only["status"] == "running"
        (faulty.folder / "go").touch()
        os.kill(client.pid, signal.SIGCONT)
        out, err = client.communicate(timeout=DEADLINE_SECONDS)
    assert client.returncode == 0, err
    assert json.loads(out)["status"] == "success"


@pytest.mark.slow
def test_a_client_that_stood_still_for_too_long_finds_its_run_lost_and_says_so(faulty: Faulty) -> None:
    """Rule 10. Ctrl-Z: meanwhile a server watched for a whole lease that nobody renewed it."""
    waits = f"{BEGUN}\nimport os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('unheard')"
    faulty.write("x = 1", waits, "print('never')")
    with faulty.running() as client:
        (only,) = json.loads(faulty.quire("runs", "list", "--json").stdout)
        # What is recorded comes behind the kernel.
        wait_until(lambda: faulty.states(only["run"])[1] == "running", "the log does not say that it runs")
        with serving(faulty):
            wait_until(lambda: stopped_without_its_lease(client, faulty.folder), "it always writes when it is stopped")
            lost = "the run is not lost"
            wait_until(lambda: json.loads(faulty.quire("runs", "list", "--json").stdout)[0]["status"] == "lost", lost)
        (faulty.folder / "go").touch()
        os.kill(client.pid, signal.SIGCONT)
        out, err = client.communicate(timeout=DEADLINE_SECONDS)
    assert client.returncode == 1, err
    assert "taken for lost" in err and "cell-2" in err
    told = json.loads(out)
    assert failed(told, "lost")["index"] == 1
    check_left(faulty, told, ["ok", "lost", "skipped"], ["completed", "failed", "pending"])


def kill_client(faulty: Faulty, grace_seconds: float) -> str:
    """SIGKILL the client while its second cell runs; return its run as the next process sees it."""
    with faulty.running("--grace", str(grace_seconds)) as client:
        # The log is written behind the kernel: what is asked here is what becomes of what it has.
        wait_until(lambda: faulty.states("n")[:2] == ["ok", "running"], "the log does not say that it runs")
        os.kill(client.pid, signal.SIGKILL)
        client.communicate()
    (only,) = json.loads(faulty.quire("runs", "list", "--json").stdout)
    assert only["status"] == "lost", "the log tells the truth to the first who looks"
    return only["run"]


def test_the_client_is_killed_and_nobody_comes_back(faulty: Faulty) -> None:
    faulty.write("x = 1", SLEEP, "print('never')")
    run = kill_client(faulty, 0.5)
    assert faulty.states(run) == ["ok", "lost", "skipped"]
    shown = json.loads(faulty.quire("runs", "show", run, "--json").stdout)
    assert shown["outcome"]["failed_cell"]["index"] == 1
    faulty.book()  # its last whole version
    # The kernel has a grace in which somebody may go on with it; then it is gone.
    faulty.is_left_alone()


def test_the_client_is_killed_and_the_run_goes_on_in_its_kernel(faulty: Faulty) -> None:
    once = f"import os\n{BEGUN}\nif not os.path.exists('again'):\n    import time\n    time.sleep(600)\nprint('went on', x)"
    faulty.write("import random\nx = random.random()\nprint(x)", once, "print('third', x)")
    run = kill_client(faulty, DEADLINE_SECONDS)
    (faulty.folder / "again").touch()
    done = faulty.quire("run", "--resume", run, "--json", "n.py", str(faulty.output))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["status"], told["cells_executed"]) == ("success", 2), done.stderr
    assert told["run"] != run
    x = faulty.text(0).strip()
    assert (faulty.text(1), faulty.text(2)) == (f"went on {x}\n", f"third {x}\n"), "the same kernel, the same x"
    shown = json.loads(faulty.quire("runs", "show", told["run"], "--json").stdout)
    assert run in json.dumps(shown), "it says what it goes on with"
    faulty.is_left_alone()


def test_a_kernel_that_is_gone_means_a_linked_run_from_the_top(faulty: Faulty) -> None:
    once = "import os\nif not os.path.exists('again'):\n    os._exit(1)\nprint('went on', x)"
    faulty.write("x = 1", once, "print('third')")
    told = json.loads(faulty.run().stdout)
    assert told["status"] == "dead_kernel"
    (faulty.folder / "again").touch()
    done = faulty.quire("run", "--resume", told["run"], "--json", "n.py", str(faulty.output))
    assert done.returncode == 0, done.stderr
    assert "is gone" in done.stderr and "from the top" in done.stderr
    assert json.loads(done.stdout)["cells_executed"] == 3
    faulty.is_left_alone()


def test_a_run_is_kept_fixed_and_resumed(faulty: Faulty) -> None:
    faulty.write("import random\nx = random.random()\nprint(x)", "1 / 0", "print('third', x)")
    first = faulty.run("--keep")
    told = json.loads(first.stdout)
    assert told["status"] == "error" and told["run"] in first.stderr
    x = faulty.text(0).strip()
    assert faulty.kernels(), "the kernel lives on"
    faulty.write("import random\nx = random.random()\nprint(x)", "print('mended', x)", "print('third', x)")
    done = faulty.quire("run", "--resume", told["run"], "--json", "n.py", str(faulty.output))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cells_executed"] == 2
    assert (faulty.text(0).strip(), faulty.text(2)) == (x, f"third {x}\n")
    faulty.is_left_alone()


@pytest.mark.slow  # tests/kernels/test_local_kernel.py has it for one kernel
def test_two_who_resume_one_run_do_not_share_its_kernel(faulty: Faulty) -> None:
    """The second would go on with what the first has changed."""
    faulty.write("x = 0", "x += 1\nprint(x)\n1 / 0")
    first = json.loads(faulty.run("--keep").stdout)["run"]
    second = json.loads(faulty.run("--resume", first, "--keep").stdout)["run"]
    assert faulty.text(1) == "2\n", "on where the first had stopped"
    third = faulty.run("--resume", first)
    assert second in third.stderr and "from the top" in third.stderr
    assert faulty.text(1) == "1\n"
    fourth = faulty.run("--resume", second)
    assert faulty.text(1) == "3\n", fourth.stderr
    faulty.is_left_alone()


@pytest.mark.slow  # four runs
def test_a_run_is_resumed_from_another_folder(faulty: Faulty) -> None:
    faulty.write("import os\nassert os.path.exists('again')")
    run = json.loads(faulty.run().stdout)["run"]
    (faulty.folder / "again").touch()
    elsewhere = faulty.folder / "elsewhere"
    elsewhere.mkdir()
    words = ["run", "--resume", run, "--cwd", str(faulty.folder), "--json"]
    assert faulty.quire(*words, cwd=elsewhere).returncode == 0, "what it was of is where it was"
    (faulty.folder / "n.py").rename(faulty.folder / "m.py")
    gone = faulty.quire(*words, cwd=elsewhere)
    assert gone.returncode == 2 and f"Run {run} was of n.py" in gone.stderr and "Name it" in gone.stderr
    other = faulty.quire("run", "m.py", "--resume", run, "--json")
    assert other.returncode == 0 and "was of n.py, and this is of m.py" in other.stderr


def test_a_kept_kernel_is_ended_by_cancel(faulty: Faulty) -> None:
    faulty.write("x = 1")
    told = json.loads(faulty.run("--keep").stdout)
    assert faulty.kernels()
    done = faulty.quire("cancel", told["run"])
    assert done.returncode == 0, done.stderr
    faulty.is_left_alone()


def kernelspec(faulty: Faulty, name: str, *argv: str) -> None:
    folder = faulty.folder / "jupyter" / "kernels" / name
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": name, "language": "python"}))
    faulty.environ["JUPYTER_PATH"] = str(faulty.folder / "jupyter")


def test_a_kernel_cannot_start(faulty: Faulty) -> None:
    kernelspec(faulty, "broken", sys.executable, "-c", "import sys; sys.exit('no licence')", "{connection_file}")
    faulty.write("x = 1", "print('never')")
    done = faulty.run("-k", "broken")
    assert done.returncode == 4
    assert "broken" in done.stderr and "no licence" in done.stderr
    told = json.loads(done.stdout)
    assert failed(told, "error") is None
    check_left(faulty, told, ["skipped", "skipped"], ["pending", "pending"])


def test_the_client_is_told_to_stop_while_the_kernel_starts(faulty: Faulty) -> None:
    code = f"{BEGUN}; import time; time.sleep(600)"
    kernelspec(faulty, "slow", sys.executable, "-c", code, "{connection_file}")
    faulty.write("x = 1", "print('never')")
    status, told, _ = faulty.signalled(signal.SIGINT, "-k", "slow")
    assert status == 130
    assert failed(told, "cancelled") is None
    check_left(faulty, told, ["skipped", "skipped"], ["pending", "pending"])


def test_a_kernel_that_nobody_knows(faulty: Faulty) -> None:
    kernelspec(faulty, "julia-1.11", "julia", "{connection_file}")
    faulty.write("x = 1")
    done = faulty.run("-k", "julia-1.10")
    assert done.returncode == 2
    assert "julia-1.10" in done.stderr and "julia-1.11" in done.stderr
    assert not faulty.output.exists()
    assert json.loads(done.stdout)["error"]["near"] == ["julia-1.11"]
    assert json.loads(faulty.quire("runs", "list", "--json").stdout) == []
    faulty.is_left_alone()


@pytest.mark.slow  # it loads the machine; tests/actors/runtime/test_run_notebook.py has it without
def test_many_flushed_lines_on_a_loaded_machine_and_one_more_cell(faulty: Faulty) -> None:
    """On one processor, which two others keep busy: so the rest of the machine is left to the tests beside this one."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], env={}) for _ in range(2)]
    try:
        faulty.write("for n in range(20_000):\n    print(n, flush=True)", "print('one more')")
        done = faulty.run()
    finally:
        os.sched_setaffinity(0, allowed)
        for each in busy:
            each.kill()
            each.wait()
    assert done.returncode == 0, done.stderr
    lines = faulty.text(0).splitlines()
    wrong = next((n for n, line in enumerate(lines) if line != str(n)), None)
    assert wrong is None, lines[wrong - 3 : wrong + 3]
    assert len(lines) == 20_000
    assert faulty.text(1) == "one more\n"
    faulty.is_left_alone()


@pytest.mark.slow  # tests/outputs/test_recorder.py has it without a kernel
def test_ten_thousand_updates_of_a_display(faulty: Faulty) -> None:
    faulty.write(
        "from IPython.display import display\nhandle = display('0', display_id=True)\n"
        "for n in range(1, 10_001):\n    handle.update(str(n))",
        "print('one more')",
    )
    done = faulty.run()
    assert done.returncode == 0, done.stderr
    (shown,) = faulty.book().cells[0].outputs
    assert shown.data["text/plain"] == "'10000'"
    events = faulty.quire("sql", "select count(*) as n from events", "--json")
    assert json.loads(events.stdout)[0]["n"] < 5000, "what nobody could see is not kept"
    faulty.is_left_alone()


def test_bytes_that_are_no_text(faulty: Faulty) -> None:
    faulty.write(
        "import os, subprocess, sys\nos.write(1, b'caf\\xe9 \\xff\\n')\n"
        "subprocess.run([sys.executable, '-c', 'import os; os.write(1, bytes([0xc3, 0x28, 10]))'])\nprint('after')",
        "print('half a pair: \\ud800')",
        "raise ValueError('half a pair: \\ud800')",
    )
    done = faulty.run()
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["failed_cell"]["index"] == 2
    # In whatever order: the kernel hears by another way what is written past Python.
    assert sorted(faulty.text(0).splitlines()) == ["after", "caf\ufffd \ufffd", "\ufffd("]
    assert faulty.text(1).startswith("half a pair: ")
    faulty.is_left_alone()


@pytest.mark.slow  # rare
def test_a_cell_closes_stdout(faulty: Faulty) -> None:
    faulty.write("print('before')", "import os, sys\nsys.stdout.close()\nos.close(1)", "1 + 1")
    done = faulty.run()
    told = json.loads(done.stdout)
    assert told["status"] in ("success", "error")
    assert faulty.text(0) == "before\n"
    if told["status"] == "success":
        assert faulty.book().cells[2].outputs[0].data["text/plain"] == "2"
    else:
        assert told["failed_cell"]["index"] >= 1
    faulty.is_left_alone()


@pytest.mark.slow  # test_serve.py has two runs at once
def test_two_runs_at_once_in_one_folder(faulty: Faulty) -> None:
    faulty.write("import os\nfor n in range(200):\n    print(n, flush=True)\nprint(os.getpid())")
    other = Faulty(faulty.folder)
    other.output = faulty.folder / "other.ipynb"
    words = ["run", "n.py", "--json"]
    clients = [
        subprocess.Popen(
            [QUIRE, *words[:2], str(each.output), "--json"],
            cwd=each.folder,
            env=each.environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        for each in (faulty, other)
    ]
    told = [json.loads(client.communicate()[0]) for client in clients]
    assert [each["status"] for each in told] == ["success", "success"]
    assert told[0]["run"] != told[1]["run"]
    texts = [each.text(0).splitlines() for each in (faulty, other)]
    assert texts[0][:200] == texts[1][:200] == [str(n) for n in range(200)]
    assert texts[0][200] != texts[1][200], "each in a kernel of its own"
    runtimes = json.loads(
        faulty.quire("sql", "select distinct actor from events where actor like 'runtime:%'", "--json").stdout
    )
    assert len(runtimes) == 2
    faulty.is_left_alone()
    wait_until(lambda: not other.kernels(), "processes are left")
