"""Fused: the limits at machine speed, for programs that a short tape of instructions can express.

Lives here: the lowering of a plan to a tape, the compiled loops that run a tape, the threads that share out the tiles.
Does not live here: formulas of layers (rules/) and activations (duals/), which remain the reference.
May import: the plan, the rules and the duals of this room, core. numba is imported by the first computation.
"""

from gnomon.kernels.fused.engine import Compiled, compiled, takes

__all__ = ["Compiled", "compiled", "takes"]
