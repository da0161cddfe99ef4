"""Computes the exact kernels (NNGP and NTK) of a module's infinite-width limit.

Contains: exact NNGP and NTK: ``rules`` (one layer family per file), ``duals`` (one activation per file), the plan and
its engines, Monte Carlo limits.
Does not contain: kernels of finite networks (`gnomon.tangent`).
May import: adapter, core, expectations, linalg, program.
"""

from gnomon.kernels.cost import KernelCost
from gnomon.kernels.layers import LimitLayer, limit_layers
from gnomon.kernels.limit import Limit, limit
from gnomon.kernels.montecarlo import SampledLimit, sampled_limit
from gnomon.kernels.record import Kernels

__all__ = ["KernelCost", "Kernels", "LimitLayer", "Limit", "SampledLimit", "limit_layers", "limit", "sampled_limit"]
