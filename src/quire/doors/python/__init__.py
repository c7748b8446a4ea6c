"""The door for who writes Python: workspaces, notebooks and cells as objects, over the verbs. No rules of its own.

Async only inside: what people hold is written once (notebook, workspace), and sync_wrapper makes both faces of it.
"""
