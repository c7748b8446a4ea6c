"""A notebook that is bound to a file follows it, and the file follows the notebook (rule 13).

`mirror` is what others start, `mirror_once` one step of it, `path_in` what a binding calls a file. docs/explanation/mirror.md
says what it does and why. The parts: `file_paths` where a file may be, `file_watch` when it changed and when it is whole,
`atomic_swap` how it is replaced, `file_merge` what is merged, `merge_base` the version that both sides had last,
`log_side` the log and what a person is told, `from_file` from the file, `to_file` to the file, `bound_notebook` one
notebook, `mirror` all of it.
"""

from .file_paths import path_in
from .mirror import mirror, mirror_once

__all__ = ["mirror", "mirror_once", "path_in"]
