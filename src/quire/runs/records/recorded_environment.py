"""What a run found around it, as its record has it: packages, revision, input files."""

from __future__ import annotations

from ...core.errors import QuireError
from ...core.events import GitRevision
from ...core.notebook.notebook import Notebook
from ...kernels.requirements import read_versions
from ...workspace.protocol import Workspace

MOST_BYTES = 10_000_000
"""Ten thousand packages take a tenth of it; what is larger was not written by a runtime of ours."""


async def packages_of(workspace: Workspace, notebook: Notebook) -> dict[str, str] | None:
    """Return every package that was installed for a run, with its version; None where that is not known."""
    ref = notebook.run.packages if notebook.run is not None else None
    if ref is None or ref.size > MOST_BYTES:
        return None
    try:
        return read_versions(await workspace.read_blob(ref.hash))
    except QuireError:  # it is not in a bundle that was written without its blobs
        return None


def revision_text(revision: GitRevision) -> str:
    """A revision in one line."""
    return f"{revision.commit[:12]}{', with changes' if revision.dirty else ''}"
