"""When a schedule is due, what its parameters come to, and what is to be done next. Pure: time and zones are arguments."""
