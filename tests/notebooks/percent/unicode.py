# %% [markdown] title="Ünïcode 🌍"
# שלום 世界 e\u0301 é

# %% Größe 👍🏽
größe = "𝔘 \U0001f600 😀"

# %% [markdown]
#no blank after the mark
#	a tab after it
# trailing blanks   
