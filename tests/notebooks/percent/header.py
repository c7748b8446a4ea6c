#!/usr/bin/env python
# -*- coding: utf-8 -*-
# ---
# title: With a header
# author: Ada
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.1
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   quire:
#     environment:
#       python: '>=3.11'
# ---

# %%
import sys

# %% [raw]
# \newpage

# %% slideshow={"slide_type": "slide"} jupyter={"source_hidden": true} tags=["a", "b"]
print(sys.version_info.major)
