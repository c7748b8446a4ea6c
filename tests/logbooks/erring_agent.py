"""A scripted agent that errs: each of its deviations and failures has to be in its record, whether it says so or not.

    .venv/bin/python -m tests.logbooks.erring_agent 100

prints what it did, and of how much of that log and file tell.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from quire.core.errors import BadInput
from quire.core.notebook.logbook_record import LogbookStep

from .step_agent import StepAgent, step_agent
from .template_texts import write_template

TEMPLATE = """\
---
parameters:
  name: {help: whom to greet}
---

# Work

## Load

```python
rows = [1, 2, 3]
print("{name}", rows)
```

## Sum

```python
total = sum(rows)
print(total)
```

## Show

```python
print(total * 2)
```

## Judge

Say whether the total is plausible.
"""
WAYS = ("as written", "changed", "changed silently", "broken, then mended", "broken and left", "skipped", "left out", "added to")


async def err(agent: StepAgent, draw: random.Random) -> tuple[Counter[str], list[str]]:
    """Do one run, erring; return what was done, and what of it neither the log nor the file tells."""
    await agent.begin("work", parameters={"name": "World"}, request="Work, please.")
    did: Counter[str] = Counter()
    wrong: list[str] = []
    for step in await agent.steps():
        way = "as written"
        if step.kind == "prose":
            way = draw.choice(("done", "done", "prose skipped", "claimed"))
            await _prose(agent, step, way)
        else:
            # Without the first step the others have nothing to stand on; an agent may err there too.
            way = draw.choice(WAYS)
            await _code(agent, step, way)
        did[way] += 1
        wrong += await _missed(agent, step, way)
    return did, wrong


async def _prose(agent: StepAgent, step: LogbookStep, way: str) -> None:
    if way == "prose skipped":
        await agent.edit({"op": "step", "cell": step.cell, "answer": "skipped", "why": "no judgement asked"})
        return
    if way == "claimed":
        try:
            await agent.edit({"op": "step", "cell": step.cell, "answer": "done"})
        except BadInput:
            return  # that it is done is not taken on trust: something has to be said
        raise AssertionError("a prose step was taken for done without a word")
    await agent.edit({"op": "step", "cell": step.cell, "answer": "done", "did": "Looked.", "evidence": "6 is 1+2+3"})


async def _code(agent: StepAgent, step: LogbookStep, way: str) -> None:
    cell, source = step.cell, (await agent.owner.read(agent.log)).cells[step.cell].source
    patch: dict[str, Any] = {"op": "patch", "cell": cell, "old": source, "new": f"{source}\nprint('more')"}
    broken: dict[str, Any] = {"op": "patch", "cell": cell, "old": source, "new": f"{source}\n1 / 0"}
    match way:
        case "changed":
            await agent.edit(patch, {"op": "step", "cell": cell, "why": "more was asked"}, run=[cell])
        case "changed silently":
            await agent.edit(patch, run=[cell])
        case "broken, then mended":
            await agent.edit(broken, run=[cell])
            await agent.edit({"op": "patch", "cell": cell, "old": "\n1 / 0", "new": ""}, run=[cell])
        case "broken and left":
            await agent.edit(broken, run=[cell])
        case "skipped":
            await agent.edit({"op": "step", "cell": cell, "answer": "skipped", "why": "not needed"})
        case "left out":
            now = await agent.tool("read", notebook=agent.log, cells=[cell])
            base = next(each["hash"] for each in now["cells"] if each["id"] == cell)
            await agent.edit({"op": "delete", "cell": cell, "base": base})
        case "added to":
            await agent.tool("run", notebook=agent.log, cells=[cell], seconds=25)
            await agent.edit({"op": "insert", "after": cell, "source": "print('added')"}, run="changed")
        case _:
            await agent.tool("run", notebook=agent.log, cells=[cell], seconds=25)


async def _missed(agent: StepAgent, step: LogbookStep, way: str) -> list[str]:
    """What of one step is not in the record as it should be."""
    steps = {each.cell: each for each in await agent.steps()}
    now, text = steps[step.cell], agent.text
    notes = {
        "changed": (now.deviated and now.why != "", "> **Deviates from the template**: more was asked"),
        "changed silently": (now.deviated, "> **Deviates from the template**"),
        "broken, then mended": (not now.deviated, "> **Failed before**: ZeroDivisionError"),
        "broken and left": (now.state == "failed" and now.deviated, "> **Failed**: ZeroDivisionError"),
        "skipped": (now.state == "skipped", "> **Skipped**: not needed"),
        "left out": (now.left_out, "> **Left out**"),
        "added to": (any(each.added for each in steps.values()), "> **Added**"),
        "prose skipped": (now.state == "skipped", "> **Skipped** by agent:codex: no judgement asked"),
        "claimed": (now.state == "open", "> **Not done**"),
        "done": (now.state == "done", "> **Done** by agent:codex: Looked."),
    }
    if way not in notes:
        return []
    is_derived, note = notes[way]
    missing = [f"{way}: not in the log: {now}"] if not is_derived else []
    # What failed for want of an earlier step reads otherwise, and is a failure all the same.
    is_told = note in text or ("NameError" in text and way.startswith("broken"))
    return missing if is_told else [*missing, f"{way}: not in the file"]


async def run_many(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Do so many runs, each in a folder of its own; return what was done, and what of it is in no record."""
    draw = random.Random(seed)
    did: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            write_template(Path(folder), TEMPLATE, "work")
            async with step_agent(Path(folder)) as agent:
                ways, missed = await err(agent, draw)
        did += ways
        wrong += [f"run {number}: {each}" for each in missed]
    return did, wrong


if __name__ == "__main__":
    done, lost = asyncio.run(run_many(int(sys.argv[1]), 1))
    for way, count in sorted(done.items()):
        print(f"{count:5}  {way}")
    print(f"{sum(done.values()):5}  steps, of which {len(lost)} are not in their record as they were")
    print(*lost, sep="\n")
