"""Kernels: exact infinite-width limits of modules.

Lives here: rules/ (a layer family each), duals/ (an activation each), the plan and its execution, Monte-Carlo limits.
Does not live here: kernels of finite networks (tangent), what is done with a kernel (dynamics, estimators).
May import: program, linalg, core.
"""

from gnomon.kernels.cost import Cost
from gnomon.kernels.layers import Layer, layers
from gnomon.kernels.limit import Limit, limit
from gnomon.kernels.montecarlo import SampledLimit, sampled_limit
from gnomon.kernels.record import Kernels

__all__ = ["Cost", "Kernels", "Layer", "Limit", "SampledLimit", "layers", "limit", "sampled_limit"]
