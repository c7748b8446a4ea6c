# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx<1"]
#
# [tool.uv]
# exclude-newer = "2026-01-01T00:00:00Z"
# ///
"""A script that says what it needs."""

# %%
import json

# %%
json.dumps({"a": 1})
