"""What agents and people do with notebooks, one module per kind of verb: MCP, the command line and Python call the same.

Each verb takes where it acts (`Here`) and what is wanted (a value of arguments.py), and gives a
`VerbAnswer`: compact text for whoever reads, facts for programs. What is wrong is one of the six
errors; `error_answer` turns one into an answer to act on. No verb prints, and none knows a protocol.
"""
