"""Machine: how loops are compiled, shared out among threads, and watched.

Lives here: what the compiled loops of all rooms have in common.
Does not live here: any formula.
May import: torch. numba is imported by the first computation.
"""
