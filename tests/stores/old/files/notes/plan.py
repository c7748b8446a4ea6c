# %%
days = 5
