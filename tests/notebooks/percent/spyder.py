#%%
first = 1
#%% A title
second = 2
# %%% a cell inside the cell
third = 3




# %%
# %% {"tags": ["old"], "x": 1}
fourth = 4
#%%[markdown]
# close by
