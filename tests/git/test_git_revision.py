"""Where the repository of a source stands."""

from __future__ import annotations

from pathlib import Path

from quire.core.events import GitRevision
from quire.git.repository import find_revision, git


def test_the_commit_is_told_and_whether_tracked_files_differ_from_it(tmp_path: Path) -> None:
    assert find_revision(tmp_path) is None
    git("init", "-q", at=tmp_path)
    assert find_revision(tmp_path) is None  # nothing is committed yet
    (tmp_path / "note.py").write_text("1\n")
    (tmp_path / "sub").mkdir()
    git("add", "note.py", at=tmp_path)
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "note", at=tmp_path)
    commit = git("rev-parse", "HEAD", at=tmp_path)
    (tmp_path / "untracked.txt").touch()
    assert find_revision(tmp_path / "sub") == GitRevision(commit=commit)
    (tmp_path / "note.py").write_text("2\n")
    assert find_revision(tmp_path) == GitRevision(commit=commit, dirty=True)
    assert find_revision(tmp_path / "gone") is None
