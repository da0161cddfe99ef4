"""What can be wrong, how serious is it, and in which words is it reported?

Contains: the table of findings. A row (`gnomon.core.results.Kind`) has an id, a level, the templates of its message and
its fix, and what follows from it. Rows are grouped by topic in `data`, `network`, `training`, `structured`,
`decisions`, `generative` and `theory`; `table` has them in one order, the most serious first; `groups` names
consequences that several rows share.

Does not contain: measurements, which are in the instruments, and the function that reconciles the findings of one
examination, which is `gnomon.examination.policy`.

May import: core.
"""

from gnomon.findings.table import KINDS, TABLE, checked_kinds, most_serious_first, rank

__all__ = ["KINDS", "TABLE", "checked_kinds", "most_serious_first", "rank"]
