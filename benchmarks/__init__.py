"""How fast it is, beside the floor: the least that the same work can cost here.

`make bench` runs everything in one go; `python -m benchmarks appends` runs a part. What we
do and its floor are measured alternately, several times, and compared by their medians:
the ratios are what counts, the seconds are this machine's.
"""
