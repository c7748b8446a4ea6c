# %% [markdown]
# # Sales by city
#
# Reads the orders and shows where they came from.

# %% tags=["parameters"]
month: str = "2026-10"  # as YYYY-MM
top: int = 5  # how many cities

# %% name="load"
from collections import Counter

orders = [("Bern", 12), ("Zürich", 31), ("Bern", 3)]

# %% Count them
sold = Counter()
for city, count in orders:
    sold[city] += count


# %% [markdown] tags=["result"]
# The **first** are:
#
# - by number
# - of `month`

# %%
for city, count in sold.most_common(top):
    print(f"{city:>8} {count}")
