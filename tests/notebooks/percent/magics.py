# %%
# %matplotlib inline
# !pip list | head -1
import os

# %% language="bash"
# for x in 1 2; do
#     echo "$x"
# done

# %%
# %%time
sum(range(1000))

# %%
# # %load_ext commented by the author
# files = !ls

# %%
# os.getcwd?
