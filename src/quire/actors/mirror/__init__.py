"""A notebook that is bound to a file follows it, and the file follows the notebook (rule 13).

`mirror` is what others start, `mirror_once` one step of it, `path_in` what a binding calls a file. docs/explanation/mirror.md
says what it does and why. The parts: `file_paths` where a file may be, `file_read` when it is whole,
`atomic_swap` how it is replaced, `moved` where it went, `file_merge` and `sheet_events` what is merged, `versions`
and `merge_base` the one that both sides had last, `recovery` what a kill left, `log_side` the log,
`from_file` from the file, `to_file` to the file, `notices` what
a person hears, `bound_notebook` one notebook, `file_watch` the disk, `poll_intervals` how long it
waits, `mirror` all of it.
"""

from .file_paths import path_in
from .mirror import mirror, mirror_once

__all__ = ["mirror", "mirror_once", "path_in"]
