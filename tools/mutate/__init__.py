"""Mutation tests for numerical code: plants one error at a time and checks whether a test fails.

Maintained mutation testers (mutmut, cosmic-ray) do not know numerical errors such as a missing root or a wrong axis,
and the way they replace functions clashes with torch.fx, numba and jaxtyping's import hook.

`python -m tools.mutate --help` lists the options; `make mutate` runs it. The source tree is never modified: errors are
planted in forked processes, and code that only a new process can change is planted in a copy under build/mutate.
"""
