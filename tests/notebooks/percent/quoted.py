# %% [markdown]
"""
# A title in quotes

With a line that says # %% and one more.
"""

# %% [markdown]
'''Single quotes, one line.'''

# %% [md]
# The short word for Markdown.

# %%
text = """
# %% [markdown]
# still a string
"""

# %% [markdown]
r"""
Raw: \alpha, $\beta$
"""
