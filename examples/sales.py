# %% [markdown]
# Which cities sold most in a month.

# %% tags=["parameters"]
month = "2026-10"  # as YYYY-MM
top = 5  # how many cities

# %% name="rank"
sales = {"Bern": 12, "Basel": 30, "Chur": 7}
ranked = sorted(sales, key=sales.get, reverse=True)[:top]
print(month, *ranked)

# %% name="record"
from quire.kernel import result

result("best", ranked[0])
result("sold", sum(sales[city] for city in ranked))
