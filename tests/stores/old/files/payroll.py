# %%
salary = 4000
