"""How a change is judged on its way into git: checks, validation runs, pull requests, reports."""
