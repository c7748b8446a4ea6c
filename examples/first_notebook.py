"""Make a notebook, change it and run it; leave the rest to `quire show` and `quire log`."""

import quire

with quire.connect() as workspace:  # the nearest .quire/, or a new one
    notebook = workspace.create_notebook("hello")
    greet = notebook.add_cell("print('hello')", name="greet")
    greet.edit("print('hello, choir')")  # refused if somebody else changed it since it was read
    print(greet.run().text)  # in a kernel that is started for it, and stays
