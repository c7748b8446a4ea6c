"""A logbook done by a person, on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..command import QUIRE, clean_environ
from ..journeys.live_runtimes import end_runtimes
from ..terminal import OnTerminal
from .template_texts import write_template


@pytest.mark.slow
def test_a_person_is_asked_for_values_and_at_each_step_and_the_file_says_what_they_did(tmp_path: Path) -> None:
    write_template(tmp_path)
    words = (QUIRE, "logbook", "run", "greet", "--step-by-step")
    try:
        with OnTerminal(*words, at=tmp_path, env=clean_environ()) as terminal:
            terminal.until(lambda screen: "whom to greet" in screen)
            terminal.type("World\n")
            terminal.until(lambda screen: "[r]un, [e]dit, [s]kip or [q]uit" in screen)
            terminal.type("r\n")
            terminal.until(lambda screen: "[d]one, [s]kip or [q]uit" in screen)
            assert "Hello, World!" in terminal.screen
            terminal.type("d\n")
            terminal.until(lambda screen: "What was done?" in screen)
            terminal.type("Asked.\n")
            terminal.until(lambda screen: "What shows it?" in screen)
            terminal.type("It smiled.\n")
            assert terminal.end() == 0
            assert "success: 2 steps, 0 to do, 0 deviated" in terminal.screen
    finally:
        end_runtimes(tmp_path)
    (file,) = (tmp_path / "logbooks" / "runs").rglob("*.md")
    text = file.read_text()
    assert "```text\nHello, World!\n```" in text
    assert ": Asked.\n>\n> Evidence: It smiled." in text
