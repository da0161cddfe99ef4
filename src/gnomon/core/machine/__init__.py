"""How loops are compiled, distributed over threads, and shown with a progress bar.

Lives here: what the compiled loops of all rooms have in common.
Does not live here: any formula.
May import: torch. numba is imported by the first computation.
"""
