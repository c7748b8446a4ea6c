"""The door for agents: nine tools and a few resources over the Model Context Protocol.

A door has no logic of its own: what a tool does is a verb of quire.verbs. `tools` is the table of
them, `tool_schemas` what agents are told of their arguments, `tool_call` reads those and calls; none of
the three needs the package mcp, which `mcp_server`, `resources` and `stdio` speak the protocol with.
"""
