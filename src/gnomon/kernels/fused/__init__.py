"""Computes infinite-width kernels with compiled loops (numba), for networks that translate to a short list of
instructions.

Lives here: the lowering of a plan to instructions, and the compiled loops that run them.
Does not live here: formulas of layers (rules/) and activations (duals/), which remain the reference.
May import: the plan, the rules and the duals of this subpackage, core. numba is imported by the first computation.
"""

from gnomon.kernels.fused.base import CompiledPlan, accepts_points

__all__ = ["CompiledPlan", "accepts_points"]
