#!/bin/bash
# %% [markdown]
# # Backups

# %% tags=["parameters"]
TARGET=/var/backups

# %%
echo "to $TARGET"
