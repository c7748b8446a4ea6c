"""The conversation with real kernels: everything arrives, in order, and ends are noticed."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from msgspec.structs import replace

from quire.core.errors import Conflict, Unavailable
from quire.kernels import kernel_protocol
from quire.kernels.kernel_client import KernelClient, KernelDied, stop
from quire.kernels.kernel_protocol import Spec
from quire.kernels.process.exit_status import ProcessExit
from quire.outputs.display_events import KernelMessage

from .real_kernels import ENV, PATIENCE, python, said, script, started, text, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", params=[False, True], ids=["direct", "relayed"])
def relayed(request: pytest.FixtureRequest) -> bool:
    """Whether there is a relay between the kernel and its client, which is not to be noticed."""
    return request.param


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(relayed: bool) -> AsyncGenerator[KernelClient]:
    """One kernel for all tests that leave it alive."""
    async with started(relayed=relayed) as (_, client):
        yield client


def types(messages: list[KernelMessage]) -> list[str]:
    return [each.type for each in messages]


async def test_a_cell_ends_with_its_reply_after_all_that_it_showed(client: KernelClient) -> None:
    """Rule 6."""
    messages = await said(client, "print('a'); import sys; print('b', file=sys.stderr); 1 + 1")
    assert types(messages) == [
        "status",
        "execute_input",
        "stream",
        "stream",
        "execute_result",
        "status",
        "execute_reply",
    ]
    assert {each.channel for each in messages[:-1]} == {"iopub"}
    assert messages[-1].content["status"] == "ok"
    assert messages[-1].content["execution_count"] == messages[1].content["execution_count"]


async def test_an_error_is_shown_and_told(client: KernelClient) -> None:
    messages = await said(client, "1/0")
    assert [each.content["ename"] for each in messages if each.type == "error"] == ["ZeroDivisionError"]
    assert messages[-1].content["status"] == "error"


async def test_no_line_is_lost_and_the_next_cell_has_its_own(client: KernelClient) -> None:
    first = await said(client, "for number in range(1000): print(number, flush=True)")
    second = await said(client, "print('next')")
    assert text(first) == "".join(f"{number}\n" for number in range(1000))
    assert text(second) == "next\n"


async def test_two_threads_that_flush_keep_the_order(client: KernelClient) -> None:
    """The one that prints, and the one that sends every now and then: here all the time."""
    often = """
import sys
at_once, sys.stdout.flush_interval = sys.stdout.flush_interval, 0
switch = sys.getswitchinterval()
sys.setswitchinterval(1e-6)
for number in range(1000):
    print(number, flush=True)
sys.setswitchinterval(switch)
sys.stdout.flush_interval = at_once
"""
    assert text(await said(client, often)) == "".join(f"{number}\n" for number in range(1000))


async def test_threads_that_print_at_once_lose_nothing(client: KernelClient) -> None:
    at_once = """
import sys, threading
def count(name):
    for number in range(2000): sys.stdout.write(f"{name} {number}\\n")
threads = [threading.Thread(target=count, args=(name,)) for name in "abc"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    lines = text(await said(client, at_once)).splitlines()
    for name in "abc":
        assert [line for line in lines if line.startswith(name)] == [f"{name} {number}" for number in range(2000)]
    assert len(lines) == 6000


async def test_a_process_that_was_forked_prints_as_well(client: KernelClient) -> None:
    forked = """
import os, warnings
print("before", flush=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    child = os.fork()
if child == 0:
    print("in between", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("after")
"""
    # Each piece that the child writes takes a way of its own to its parent: its line feed may come after "after".
    printed = text(await said(client, forked))
    assert sorted(printed) == sorted("before\nin between\nafter\n")
    assert "in between" in printed and "after" in printed


async def test_a_slow_taker_gets_everything_in_pieces_that_fit(client: KernelClient) -> None:
    """Far more than the sockets hold: whoever prints waits for whoever takes."""
    taken = 0
    async with asyncio.timeout(PATIENCE):
        async for message in client.execute("for _ in range(40): print('x' * 999_999)\nprint('y' * 3_000_000)"):
            if message.type == "stream":
                assert len(message.content["text"]) <= 1_000_000
                taken += len(message.content["text"])
                # Everybody else has a turn, and the kernel runs ahead as far as it can.
                await asyncio.sleep(0)
    assert taken == 43_000_001


async def test_a_reply_that_overtakes_outputs_does_not_cut_them_off(
    client: KernelClient, relayed: bool, tmp_path: Path
) -> None:
    code = f"""
import pathlib, time
for _ in range(15): print('x' * 999_999, flush=True)
while not pathlib.Path({str(tmp_path / "go")!r}).exists(): time.sleep(0.01)
"""
    request = client.execute(code)
    channels: Any = cast("Any", client)._channels
    await until(lambda: channels.is_held)
    async with asyncio.timeout(PATIENCE):
        messages = [await anext(request) for _ in range(5)]
        (tmp_path / "go").touch()
        if not relayed:  # where nothing overtakes anything
            await until(lambda: any(each.message.type == "execute_reply" for each in cast("Any", client)._held))
        messages += [each async for each in request]
    assert len(text(messages)) == 15_000_000


async def test_a_kernel_does_not_hold_on_to_what_it_printed(client: KernelClient) -> None:
    most = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    before = int(text(await said(client, most)))
    await said(client, "for _ in range(150): print('x' * 999_999)")
    assert int(text(await said(client, most))) - before < 100_000, "in kB"


async def test_odd_characters_arrive_as_the_kernel_sent_them(client: KernelClient) -> None:
    assert text(await said(client, "print('\U0001f98a é \\r\\n\\0')")) == "\U0001f98a é \r\n\0\n"
    assert text(await said(client, "import os; _ = os.write(1, b'<\\xff>\\n')")) == "<\ufffd>\n"
    (shown,) = [
        each for each in await said(client, "display({'a/b': float('nan')}, raw=True)") if each.type == "display_data"
    ]
    assert shown.content["data"].keys() == {"a/b"}
    assert text(await said(client, "print('<\\ud800>')")) == "<\ud800>\n"
    (raised,) = [each for each in await said(client, "raise ValueError('\\ud800')") if each.type == "error"]
    assert raised.content["evalue"] == "\ud800"
    messages = await said(client, "print('\ud800')")
    assert messages[-1].type == "execute_reply"


async def test_what_a_cell_prints_past_python_is_its_own(client: KernelClient) -> None:
    """However little time there is between one cell and the next."""
    for number in range(30):
        assert text(await said(client, f"import os; _ = os.system('echo {number}')")) == f"{number}\n"
    messages = await said(client, "import os; _ = os.system('seq -f é%g 20000 >&2')")
    assert text(messages, "stderr") == "".join(f"é{number}\n" for number in range(1, 20_001))


async def test_a_silent_cell_counts_for_nothing(client: KernelClient) -> None:
    async with asyncio.timeout(PATIENCE):
        messages = [each async for each in client.execute("quiet = 1", silent=True)]
    assert types(messages) == ["status", "status", "execute_reply"]


async def test_what_belongs_to_somebody_else_comes_under_its_own_name(client: KernelClient) -> None:
    code = """
kernel = get_ipython().kernel
parent = {"msg_id": "an earlier cell"}
kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "late"}, parent=parent)
print("mine")
"""
    request = client.execute(code)
    async with asyncio.timeout(PATIENCE):
        streams = [each async for each in request if each.type == "stream"]
    assert {each.parent_id: each.content["text"] for each in streams} == {
        "an earlier cell": "late",
        request.id: "mine\n",
    }


async def test_what_is_said_between_cells_is_not_lost(client: KernelClient, tmp_path: Path) -> None:
    code = f"""
import pathlib, sys, threading, time
def late():
    while not pathlib.Path({str(tmp_path / "go")!r}).exists(): time.sleep(0.01)
    sys.stdout.write("in between\\n")
threading.Thread(target=late).start()
"""
    await said(client, code)
    (tmp_path / "go").touch()
    async with asyncio.timeout(PATIENCE):
        message = await client.take()
    assert (message.type, message.content["text"]) == ("stream", "in between\n")


async def test_one_cell_runs_at_a_time(client: KernelClient) -> None:
    request = client.execute("1")
    with pytest.raises(Conflict, match="runs another cell"):
        client.execute("2")
    assert [each async for each in request][-1].type == "execute_reply"
    assert [each async for each in request] == [], "it has ended"


async def test_questions_to_the_user_are_answered(client: KernelClient) -> None:
    with pytest.raises(Conflict, match="asks for no input"):
        client.answer_input("too early")
    asked: list[tuple[str, bool]] = []
    printed = ""
    async with asyncio.timeout(PATIENCE):
        code = "import getpass; print(input('Name? '), getpass.getpass('Word? '))"
        async for message in client.execute(code, allow_stdin=True):
            if message.type == "input_request":
                asked.append((message.content["prompt"], message.content["password"]))
                client.answer_input(f"answer {len(asked)}")
            elif message.type == "stream":
                printed += message.content["text"]
    assert asked == [("Name? ", False), ("Word? ", True)]
    assert printed == "answer 1 answer 2\n"


async def test_without_stdin_a_question_fails_at_once(client: KernelClient) -> None:
    messages = await said(client, "input('Name? ')")
    assert [each.content["ename"] for each in messages if each.type == "error"] == ["StdinNotImplementedError"]


async def test_taking_can_be_cut_off_and_gone_on_with(client: KernelClient) -> None:
    """A timeout: interrupt, and hear the rest."""
    request = client.execute("print('before', flush=True)\nwhile True: pass")
    messages: list[KernelMessage] = []
    async with asyncio.timeout(PATIENCE):
        # The end of the line may come by itself.
        while text(messages) != "before\n":
            messages.append(await anext(request))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(request)
        await client.interrupt()
        messages += [each async for each in request]
    assert [each.content["ename"] for each in messages if each.type == "error"] == ["KeyboardInterrupt"]
    assert text(await said(client, "print('alive')")) == "alive\n"


async def test_small_questions_are_answered_while_nobody_runs_anything(client: KernelClient) -> None:
    await said(client, "number = 41\n%config Completer.use_jedi = False")
    assert "number" in (await client.complete("numb", 4))["matches"]
    assert (await client.inspect("number", 3))["found"]


async def test_comms_go_both_ways_with_their_bytes(client: KernelClient) -> None:
    code = """
def opened(comm, message):
    comm.on_msg(lambda sent: comm.send(sent["content"]["data"], buffers=[bytes(each)[::-1] for each in sent["buffers"]]))
get_ipython().kernel.comm_manager.register_target("mirror", opened)
"""
    await said(client, code)
    client.send_comm("comm_open", {"comm_id": "c1", "target_name": "mirror", "data": {}})
    client.send_comm("comm_msg", {"comm_id": "c1", "data": {"n": 1}}, buffers=[b"abc"])
    async with asyncio.timeout(PATIENCE):
        message = await client.take()
        while message.type != "comm_msg":
            message = await client.take()
    assert (message.content["data"], message.buffers) == ({"n": 1}, (b"cba",))


CHATTER = """
from ipykernel.comm import Comm
def opened(comm, message):
    comm.on_msg(lambda sent: comm.send({"n": sent["content"]["data"]["n"], "text": "x" * 1_000_000}))
get_ipython().kernel.comm_manager.register_target("chatter", opened)
"""


async def test_widgets_that_speak_while_nothing_runs_hold_nothing_up_whatever_waits(client: KernelClient) -> None:
    """Neither a word from before all was recorded, nor a reply that came too late for who had asked."""
    heard: list[int] = []
    client.overhear = lambda message: heard.append(message.content["data"].get("n", -1))
    await said(client, CHATTER)
    client.send_comm("comm_open", {"comm_id": "c2", "target_name": "chatter", "data": {}})
    client.send_comm("comm_msg", {"comm_id": "c2", "data": {"n": 0}})
    await until(lambda: client.has_held)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await client.info()
    client.forget()
    for number in range(1, 20):
        client.send_comm("comm_msg", {"comm_id": "c2", "data": {"n": number}})
        await until(lambda number=number: heard[-1:] == [number])
    client.overhear = lambda message: None
    assert heard == list(range(20))
    assert not client.has_held
    assert text(await said(client, "print('on')")) == "on\n"


# ---- Ends


async def test_a_kernel_that_dies_is_noticed_and_what_it_said_before_arrives(relayed: bool) -> None:
    async with started(relayed=relayed) as (_, client):
        printed: list[KernelMessage] = []
        code = "import os\nfor number in range(200): print(number, flush=True)\nos.kill(os.getpid(), 9)"
        with pytest.raises(KernelDied, match="was killed by SIGKILL") as caught:
            async with asyncio.timeout(PATIENCE):
                async for message in client.execute(code):
                    printed.append(message)
        # The very last may have been in the dead process still.
        assert "0\n1\n2\n" in text(printed) in "".join(f"{number}\n" for number in range(200))
        assert caught.value.ended == ProcessExit(signal=signal.SIGKILL)
        with pytest.raises(KernelDied):
            await client.complete("x", 1)
        with pytest.raises(KernelDied):
            await said(client, "1")


async def test_what_was_sent_is_there_after_the_kernel_is_gone(relayed: bool) -> None:
    async with started(relayed=relayed) as (kernel, client):
        request = client.execute("for number in range(200): print(number, flush=True)")
        held: Any = cast("Any", client)._held
        await until(lambda: any(each.message.content.get("execution_state") == "idle" for each in held))
        await kernel.kill()
        async with asyncio.timeout(PATIENCE):
            messages = [each async for each in request]
        assert text(messages) == "".join(f"{number}\n" for number in range(200))
        assert messages[-1].content["status"] == "ok"


async def test_a_kernel_that_begins_anew_has_forgotten_the_cell(relayed: bool) -> None:
    async with started(relayed=relayed) as (_, client):
        with pytest.raises(KernelDied, match="began anew"):
            await said(
                client,
                "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)'])",
            )


async def test_a_stock_kernel_over_ports_is_interrupted_by_message_and_ends_when_told(
    relayed: bool, tmp_path: Path
) -> None:
    argv = (sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}")
    stock = Spec(argv=argv, language="python", name="stock", interrupt_mode="message")
    async with started(stock, relayed=relayed) as (kernel, client):
        assert kernel.connection["transport"] == "tcp"
        await said(client, f"import atexit, pathlib; atexit.register(pathlib.Path({str(tmp_path / 'bye')!r}).touch)")
        async with asyncio.timeout(PATIENCE):
            request = client.execute("print('go', flush=True)\nwhile True: pass")
            async for message in request:
                if message.type == "stream":
                    await client.interrupt()
        lost = await said(client, "raise ValueError('\\ud800')")
        assert lost[-1].content["status"] == "error", "a stock kernel does not reply to that"
        await stop(kernel, client, PATIENCE)
        assert (await kernel.ended()).status == 0
    assert (tmp_path / "bye").exists(), "what a cell wants done at the end is done"


async def test_a_kernel_that_will_not_end_is_killed_after_a_grace(relayed: bool) -> None:
    async with started(relayed=relayed) as (kernel, client):
        code = """
import time
while True:
    try:
        print('go', flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        pass
"""
        async with asyncio.timeout(PATIENCE):
            async for message in client.execute(code):
                if message.type == "stream":
                    break
        await stop(kernel, client, 0.1)
        assert await kernel.ended() == ProcessExit(signal=signal.SIGKILL)


async def test_a_kernel_that_cannot_start_says_why(relayed: bool) -> None:
    kernel = await kernel_protocol.start(
        script("raise SystemExit('out of ink')"), cwd=Path("/"), env=ENV, relayed=relayed
    )
    client = KernelClient(kernel)
    with pytest.raises(Unavailable, match=r"(?s)Kernel 'script' .* ended with exit status 1.*out of ink"):
        await client.ready(PATIENCE)
    client.close()
    await kernel.close()


async def test_a_kernel_that_never_answers_is_not_waited_for(relayed: bool) -> None:
    kernel = await kernel_protocol.start(
        script("import time; time.sleep(600)"), cwd=Path("/"), env=ENV, relayed=relayed
    )
    client = KernelClient(kernel)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 seconds"):
        await client.ready(0.2)
    client.close()
    await kernel.close()


async def test_an_interpreter_without_what_a_kernel_needs_says_so(relayed: bool) -> None:
    spec = replace(python(), argv=(sys.executable, "-S", *python().argv[1:]))
    kernel = await kernel_protocol.start(spec, cwd=Path("/"), env=ENV, relayed=relayed)
    client = KernelClient(kernel)
    with pytest.raises(Unavailable, match=r"No module named"):
        await client.ready(PATIENCE)
    client.close()
    await kernel.close()
