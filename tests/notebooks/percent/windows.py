# %% [markdown]
# From Windows

# %%
x = 1
y = """a
b"""

# %%
x