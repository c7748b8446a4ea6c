"""Read and write percent scripts, and what Jupytext reads."""
