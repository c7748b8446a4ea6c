# %%
print("no newline at the end")