"""Templates that tests run."""

from __future__ import annotations

from pathlib import Path

GREET = """\
---
parameters:
  name: {help: whom to greet}
---

# Greet somebody

## Greet

```python
print("Hello, {name}!")
```

## Judge

Say whether {name} is pleased.
"""


def write_template(root: Path, text: str = GREET, name: str = "greet") -> Path:
    """Write a template into a folder, and return its file."""
    file = root / "logbooks" / "templates" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file
