# %%
first = True
