"""Read and write .ipynb; what did not change keeps its bytes."""
