"""A notebook that is bound to a file follows it, and the file follows the notebook (rule 13).

`mirror` is what others start, `mirror_once` one step of it, `path_in` what a binding calls a file. docs/explanation/mirror.md
says what it does and why. The parts: `places` where a file may be, `reading` when it is whole,
`swap` how it is replaced, `moved` where it went, `sides` and `changes` what is merged, `versions`
and `agreed` the one that both sides had last, `recovery` what a kill left, `book` the log,
`pulling` from the file, `pushing` to the file, `telling` what
a person hears, `following` one notebook, `watching` the disk, `pace` how long it
waits, `mirror` all of it.
"""

from .mirror import mirror, mirror_once
from .places import path_in

__all__ = ["mirror", "mirror_once", "path_in"]
