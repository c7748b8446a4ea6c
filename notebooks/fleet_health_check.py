# %% [markdown] name="title"
# # Fleet health check
#
# How healthy is each machine of the fleet, and is that enough to go on? Every metric becomes a score between 0 and 1; a host's
# score is the mean of its metrics, and the fleet is as healthy as its weakest host.
#
# Run it with other parameters: `quire run notebooks/fleet_health_check.py -p threshold=0.9`.

# %% name="parameters" tags=["parameters"]
hosts = ["localhost"]  # the machines to check; this machine is measured, others are tried from here
start_date = "2026-01-01"  # earlier runs since this day are compared with
end_date = "2026-12-31"  # and until this day
threshold = 0.95  # the least health score that counts as healthy
alert_threshold = 0.9  # an alert is raised when more than this share of a resource is in use
agent_id = ""  # who asked for the check, for the record
run_id = ""  # the name of this check, for the record

# %% name="imports"
import os
import socket
import time
from datetime import date
from pathlib import Path

import psutil
import scrapbook as sb

# %% [markdown] name="scoring-notes"
# ## How a metric is scored
#
# Up to `alert_threshold` a metric is fine and scores 1. Beyond, its score falls in a straight line to 0 at full use. The same on every
# machine, so the output of the next cell is checked: whoever changes the rule sees that in review.


# %% name="scoring"
# NBVAL_CHECK_OUTPUT
def score(used, limit):
    """Score a share in use between 0 and 1; `limit` is the share from which it raises an alert."""
    if used <= limit:
        return 1.0
    return round(max(0.0, (1.0 - used) / (1.0 - limit)), 3) if limit < 1 else 0.0


for used in (0.0, 0.5, 0.9, 0.95, 1.0):
    print(f"{used:4.0%} in use: score {score(used, 0.9)}")

# %% [markdown] name="parameters-notes"
# ## What is checked
#
# Wrong parameters stop the run here, before anything is measured.

# %% name="check-parameters"
# NBVAL_CHECK_OUTPUT
assert hosts, "hosts: name at least one machine."
assert 0 <= threshold <= 1, f"threshold: a score between 0 and 1, not {threshold}."
assert 0 <= alert_threshold <= 1, f"alert_threshold: a share between 0 and 1, not {alert_threshold}."
first, last = date.fromisoformat(start_date), date.fromisoformat(end_date)
assert first <= last, f"start_date {start_date} is after end_date {end_date}."
METRICS = ("processor", "memory", "disk", "swap")
print("metrics of this machine:", ", ".join(METRICS))
print("metric of other machines: reachable")

# %% [markdown] name="measure-notes"
# ## Measure
#
# `psutil` reads this machine's load, memory and disk. Of another machine only one thing can be known from here without an
# account on it: whether its name resolves and its SSH port answers within two seconds.


# %% name="measure"
# NBVAL_IGNORE_OUTPUT
def measure_here():
    """Return the share in use of each resource of this machine."""
    load, cores = os.getloadavg()[0], psutil.cpu_count() or 1
    return {
        "processor": min(1.0, load / cores),
        "memory": psutil.virtual_memory().percent / 100,
        "disk": psutil.disk_usage(Path.home().anchor).percent / 100,
        "swap": psutil.swap_memory().percent / 100,
    }


def measure_from_here(host, port=22):
    """Return what can be known of another machine: 0 in use if it answers, else 1."""
    try:
        with socket.create_connection((host, port), timeout=2):
            return {"reachable": 0.0}
    except OSError:
        return {"reachable": 1.0}


OWN_NAMES = {"localhost", "127.0.0.1", socket.gethostname()}
rows = []
for host in hosts:
    used = measure_here() if host in OWN_NAMES else measure_from_here(host)
    for metric, share in used.items():
        rows.append({"host": host, "metric": metric, "used": share, "score": score(share, alert_threshold)})

print(f"{'host':24} {'metric':10} {'in use':>7} {'score':>6}")
for row in rows:
    print(f"{row['host']:24} {row['metric']:10} {row['used']:7.1%} {row['score']:6.2f}")

# %% [markdown] name="alerts-notes"
# ## Alerts
#
# A metric whose score is below 1 is beyond `alert_threshold`.

# %% name="alerts"
# NBVAL_IGNORE_OUTPUT
alerts = [row for row in rows if row["score"] < 1]
for alert in alerts:
    what = "does not answer" if alert["metric"] == "reachable" else f"{alert['used']:.0%} in use"
    print(f"ALERT {alert['host']}: {alert['metric']} {what}")
print(f"{len(alerts)} alerts")

# %% [markdown] name="trend-notes"
# ## Compared with earlier checks
#
# The scores that earlier runs recorded between `start_date` and `end_date`, as far as their notebooks lie in `runs/`.

# %% name="trend"
# NBVAL_IGNORE_OUTPUT
earlier = []
for path in sorted(Path("runs").glob("fleet_health*.ipynb")):
    day = date.fromtimestamp(path.stat().st_mtime)
    scraps = sb.read_notebook(str(path)).scraps
    if first <= day <= last and "health_score" in scraps:
        earlier.append((day, scraps["health_score"].data))
for day, value in earlier[-10:]:
    print(day.isoformat(), f"{value:.3f}", "▇" * round(value * 20))
print(f"{len(earlier)} earlier checks")

# %% [markdown] name="results-notes"
# ## Results
#
# What the next reader, agent or schedule takes from this run.

# %% name="results"
# NBVAL_IGNORE_OUTPUT
by_host = {host: [row["score"] for row in rows if row["host"] == host] for host in hosts}
host_scores = {host: round(sum(scores) / len(scores), 3) for host, scores in by_host.items()}
health_score = min(host_scores.values())

sb.glue("health_score", health_score)
sb.glue("alert_count", len(alerts))
sb.glue("host_scores", host_scores)
sb.glue("healthy", health_score >= threshold)
sb.glue("checked", {"agent_id": agent_id, "run_id": run_id, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
verdict = "healthy" if health_score >= threshold else "NOT healthy"
print(f"{verdict}: score {health_score:.3f}, at least {threshold} wanted, {len(alerts)} alerts")
