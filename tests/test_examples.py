"""What the docs show is what works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUIRE = Path(sys.executable).with_name("quire")


def test_the_first_notebook_of_the_readme_works_as_it_is_shown(tmp_path: Path) -> None:
    example = ROOT / "examples" / "first_notebook.py"
    code = example.read_text().split('"""\n\n', 1)[1]
    assert code in (ROOT / "README.md").read_text()
    subprocess.run([sys.executable, example], cwd=tmp_path, check=True)
    shown = subprocess.run(
        [QUIRE, "show", "hello", "--view", "source"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "print('hello, choir')" in shown.stdout
