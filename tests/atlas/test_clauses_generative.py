"""Clauses of the scope on generative models that no claim measures; the ledger names these tests."""

import numpy as np

from gnomon.atlas.claims.generative import ddpm_elbo


def test_alternating_steps_stay_bounded_and_do_not_converge():
    """gda-nonconvergence: on a b, a <- a - r b and then b <- b + r a keep a^2 + b^2 - r a b."""
    a, b, rate, path = 1.0, 0.0, 0.2, []
    for _ in range(5000):
        a = a - rate * b
        b = b + rate * a
        path.append(np.hypot(a, b))
    kept = np.array([a * a + b * b - rate * a * b, 1.0])
    assert 0.8 < min(path[-200:]) < max(path) < 1.3 and abs(kept[0] - kept[1]) < 1e-9


def test_a_thousand_steps_leave_two_hundredths_of_a_nat():
    """ddpm-elbo: the gap of the bound is at most 0.02 nats at 1000 steps, and falls as 1 / T."""
    _, (thousand, two_thousand) = ddpm_elbo.gaps((1000, 2000), ddpm_elbo.observed.keywords["shrink"])
    assert 0 < thousand <= 0.02 and abs(thousand / two_thousand - 2) < 0.1
