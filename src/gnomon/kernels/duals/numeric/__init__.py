"""Expectations under Gaussian pairs, for functions without a closed form.

Lives here: where a function must be cut (pieces), integrals over one Gaussian (line), Mehler's series (mehler), the
double integral where that series is slow (smoothing), their compiled sums (loops), and the choice among them
(expectation) with its gradients (differentiable).
Does not live here: any activation.
May import: core, torch, numpy, the machine of this room. numba is imported by the first computation.
"""
