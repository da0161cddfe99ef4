"""Defines everything that the report can criticize: kinds of findings with their severity, message and fix.

Contains: the one table of kinds, in the order in which they are reported: level, consequences, opposite advice,
message and fix.
Does not contain: checks that find something, and the policy that reconciles findings (`gnomon.examination`).
May import: core.
"""

from gnomon.findings.table import KINDS, TABLE, check_finding_kinds, most_serious_first, rank_in_table

__all__ = ["KINDS", "TABLE", "check_finding_kinds", "most_serious_first", "rank_in_table"]
