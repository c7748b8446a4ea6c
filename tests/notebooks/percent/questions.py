# %% [markdown]
# # Questions of a database

# %% [sql] name="by-city" tags=["report"]
# -- the largest first
# SELECT city, sum(sold) AS sold
# FROM sales
#
# GROUP BY city

# %% [prompt]
# What stands out in the table above?
#
# Answer in one line.

# %% [sql]

# %%
answer = 42
