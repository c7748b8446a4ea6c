"""Change one entry of a JSON or TOML file and keep every other byte."""
