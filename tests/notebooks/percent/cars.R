# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .R
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.1
#   kernelspec:
#     display_name: R
#     language: R
#     name: ir
# ---

# %% [markdown]
# # Cars

# %% tags=["parameters"]
threshold <- 20L

# %%
head(mtcars[mtcars$mpg > threshold, ])
