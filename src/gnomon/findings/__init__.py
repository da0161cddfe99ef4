"""What can be wrong, how serious is it, and in which words is it reported?

Contains: the one table of kinds, in the order in which they are reported: level, consequences, opposite advice,
message and fix.
Does not contain: checks that find something, and the policy that reconciles findings (`gnomon.examination`).
May import: core.
"""

from gnomon.findings.table import KINDS, TABLE, checked_kinds, most_serious_first, rank

__all__ = ["KINDS", "TABLE", "checked_kinds", "most_serious_first", "rank"]
