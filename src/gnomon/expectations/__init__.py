"""Ground floor: Gaussian expectations of elementwise functions, with a certified error.

Lives here: E[f(u)] and E[f(u) g(v)] under one or two centered Gaussian variables, for any piecewise analytic function,
and their gradients. Where a function must be cut (pieces), integrals over one variable (line), Mehler's series
(mehler), the double integral where that series is slow (smoothing), their compiled sums (loops), the choice among them
(expectation) with its gradients (differentiable), all moments of one function (moments), covariances as angles (polar),
what is still to be compiled (ready).
Does not live here: any activation; closed forms of activations (kernels).
May import: core, torch, numpy. numba is imported by the first computation.
"""

from gnomon.expectations.differentiable import pair, single
from gnomon.expectations.moments import Moments
from gnomon.expectations.ready import compile_seconds

__all__ = ["Moments", "compile_seconds", "pair", "single"]
