"""Rules that the tree does not keep yet, and how many breaches of each are allowed: a number that only falls.

A change that mends breaches lowers its number; a rule without a number here is kept everywhere.
"""

BREACHES: dict[str, int] = {}
