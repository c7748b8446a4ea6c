# %%
total = 1
