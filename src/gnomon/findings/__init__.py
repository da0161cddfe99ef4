"""Defines all kinds of findings: what can be wrong with a network, how serious it is, and what the report says.

Contains: the one table of kinds, in the order in which they are reported: level, consequences, opposite advice,
message and fix.
Does not contain: checks that find something, and the policy that reconciles findings (`gnomon.examination`).
May import: core.
"""

from gnomon.findings.table import KINDS, TABLE, check_finding_kinds, most_serious_first, rank_in_table

__all__ = ["KINDS", "TABLE", "check_finding_kinds", "most_serious_first", "rank_in_table"]
