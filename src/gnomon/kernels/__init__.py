"""Kernels: exact infinite-width limits of modules.

Lives here: rules/ (one layer family each), duals/ (one activation each), the plan and its execution, Monte-Carlo limits.
Does not live here: kernels of finite networks (tangent), what is done with a kernel (dynamics, estimators).
May import: program, linalg, core.
"""

from gnomon.kernels.cost import Cost
from gnomon.kernels.limit import Limit, limit
from gnomon.kernels.montecarlo import Sampled
from gnomon.kernels.record import Kernels

__all__ = ["Cost", "Kernels", "Limit", "Sampled", "limit"]
