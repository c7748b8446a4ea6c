"""What is around a run: the files that it declares to read, and the repository that its source is in."""
