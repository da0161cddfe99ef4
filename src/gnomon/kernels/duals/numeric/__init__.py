"""Expectations under Gaussian pairs, for functions without a closed form.

Lives here: where a function must be cut (pieces), integrals over one Gaussian (line), Mehler's series (mehler), the
double integral where that series is slow (ridge, table), and the choice among them with its gradients (expectation).
Does not live here: any activation.
May import: core, torch, numpy.
"""
