"""A process beside a kernel that keeps its messages while no runtime listens."""
