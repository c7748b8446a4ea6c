# %% [markdown]
# # Start here
#
# This notebook explains Quire by being run. Press **Shift-Enter**: it runs a cell and goes to the next.
#
# There is nothing to save. Every keystroke, run and output is recorded the moment it happens, and stays when the tab is closed.

# %% name="hello"
import platform

print(f"Hello from Python {platform.python_version()}, in a kernel that goes on when you leave.")

# %% [markdown]
# ## Output that arrives while a cell runs
#
# Run the next cell, then close this tab and open it again: the cell has gone on, and nothing it printed is missing.
# **I I** interrupts it.

# %% name="count"
import time

for step in range(1, 11):
    print(f"step {step} of 10", "·" * step, flush=True)
    time.sleep(0.5)

# %% [markdown]
# ## Who did what
#
# Below each cell stands who ran it, when, and how long it took. Click it for everyone who wrote or ran that cell, and for
# each past version, which you can restore. An agent that works for you signs as itself: *codex for ada*.

# %% [markdown]
# ## Parameters and results
#
# The next cell is tagged `parameters`. The panel **Parameters** makes a form of it and starts a *run*: the whole notebook,
# from top to bottom, in a kernel of its own, kept with its parameters and results. In a terminal:
# `quire run start_here.py -p largest=3`

# %% name="parameters" tags=["parameters"]
largest = 5  # how many planets to list

# %% name="planets"
RADII = {"Venus": 6052, "Earth": 6371, "Mars": 3390, "Jupiter": 69911, "Saturn": 58232, "Uranus": 25362}
ranked = sorted(RADII.items(), key=lambda planet: -planet[1])[:largest]


class Table:
    """Rows that a notebook shows as a table."""

    def __init__(self, *rows):
        self.rows = rows

    def _repr_html_(self):
        cells = ("".join(f"<td>{value}</td>" for value in row) for row in self.rows)
        head = "<thead><tr><th>planet</th><th>radius in km</th></tr></thead>"
        return f"<table>{head}<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


Table(*ranked)

# %% name="record"
from quire.kernel import result

result("largest_planet", ranked[0][0])
result("mean_radius", round(sum(radius for _, radius in ranked) / len(ranked), 1))

# %% [markdown]
# ## When something fails
#
# This cell fails on purpose. The message comes first, and the line that failed is marked. Put `"Saturn"` in place of
# `"Pluto"` and run it again. Cells that used what you change are marked as *stale*; **Shift-R** runs those, and no others.

# %% name="lookup" tags=["raises-exception"]
chosen = "Pluto"
print(f"{chosen} has a radius of {RADII[chosen]:,} km")

# %% [markdown]
# ## Agents and people
#
# **Share**, at the top, says who may do what here. It invites a person, with a link that signs in one browser, once: you
# then see each other's cursors. And it lets a coding agent in: Claude Code, Codex, Cursor and others come with the line that
# it shows.
#
# An agent *proposes* what it wants to change or run. You see the difference, cell by cell, and accept or decline it. Ask
# yours to mend the cell `lookup` above.
#
# **?** lists all keys and starts the tour, **Ctrl-K** finds any action, and the mark at the top left leads to all notebooks.
# This one is the file `start_here.py`: edit it in your editor, and the change appears here.
