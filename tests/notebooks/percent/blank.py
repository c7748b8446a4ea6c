

# %%


# %%

# %% [markdown]

# %% [raw]
#


