"""The door for programs and browsers on the network: an HTTP API and a WebSocket under `/api/`.

A door has no logic of its own: decode, name the actor, call the workspace, encode. `make_app` (app) makes it,
`server` runs it. docs/reference/http.md is its description in words; `/api/openapi.json` for programs.
"""
