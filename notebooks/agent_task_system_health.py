# %% [markdown] name="title"
# # Task: is this system fit for work?
#
# A small notebook of the kind that an agent makes for one task: measure the machine, compare with a threshold, record the answer.
#
# `quire run notebooks/agent_task_system_health.py -p threshold 1.0 -p hostname forge-vps-01`

# %% name="parameters" tags=["parameters"]
hostname = "localhost"  # the name of this machine in the record
threshold = 0.9  # the greatest share of a resource that may be in use
agent_id = ""  # the agent that does the task
run_id = ""  # the name of this run

# %% name="imports"
import os

import psutil
import scrapbook as sb

# %% [markdown] name="measure-notes"
# ## Measure
#
# Shares between 0 and 1. The load of the processor is the mean of the last minute, and more than all cores is counted as all.

# %% name="measure"
# NBVAL_IGNORE_OUTPUT
used = {
    "processor": min(1.0, os.getloadavg()[0] / (psutil.cpu_count() or 1)),
    "memory": psutil.virtual_memory().percent / 100,
    "disk": psutil.disk_usage(os.sep).percent / 100,
}
for resource, share in used.items():
    print(f"{hostname} {resource:10} {share:6.1%}")

# %% [markdown] name="decide-notes"
# ## Decide
#
# The rule is checked with numbers that are the same everywhere.


# %% name="decide"
# NBVAL_CHECK_OUTPUT
def beyond(used, threshold):
    """Return the resources of which more than the threshold is in use."""
    return sorted(resource for resource, share in used.items() if share > threshold)


print(beyond({"processor": 0.95, "memory": 0.5, "disk": 0.91}, 0.9))
print(beyond({"processor": 1.0, "memory": 1.0, "disk": 1.0}, 1.0))

# %% [markdown] name="results-notes"
# ## Results

# %% name="results"
# NBVAL_IGNORE_OUTPUT
exceeded = beyond(used, threshold)
sb.glue("hostname", hostname)
sb.glue("checked", {"agent_id": agent_id, "run_id": run_id})
sb.glue("exceeded", exceeded)
sb.glue("fit", not exceeded)
print(f"{hostname} is {'fit for work' if not exceeded else 'short of ' + ', '.join(exceeded)}")
