"""Code that depends on the machine: compiled loops, threads, memory, clocks, files and progress bars.

Lives here: what the compiled loops of all rooms have in common.
Does not live here: any formula.
May import: torch. numba is imported by the first computation.
"""
