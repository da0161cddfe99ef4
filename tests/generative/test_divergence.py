"""Hutchinson's estimate with its standard error, direction by direction."""

import numpy as np
import pytest
import torch

from gnomon.generative.divergence import ExactTrace, HutchinsonTrace, hutchinson_trace


@pytest.mark.parametrize("law", ["signs", "gaussian"])
def test_the_estimate_is_a_mean_over_directions_and_its_error_that_of_a_mean(law):
    matrix = torch.tensor([[1.0, 2.0, 0.5], [-3.0, 4.0, 0.0], [0.7, 0.1, -2.0]]).double()
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).double()
    trace, error = hutchinson_trace(lambda z: z @ matrix.T, x, directions=5, law=law, seed=3)
    drawn = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64).numpy()
    e = np.sign(drawn) if law == "signs" else drawn
    products = np.einsum("kni,ij,knj->kn", e, matrix.numpy(), e)
    np.testing.assert_allclose(trace, products.mean(0), rtol=1e-12)
    np.testing.assert_allclose(error, products.std(0, ddof=1) / 5**0.5, rtol=1e-12)
    rule = HutchinsonTrace(5, law, 3)
    np.testing.assert_allclose(rule(lambda z: z @ matrix.T, x, rule.directions(x))[1], products.mean(0), rtol=1e-12)


def test_the_exact_trace_of_examples_with_several_axes():
    weights = torch.arange(1.0, 7.0).reshape(2, 3)
    x = torch.randn(4, 2, 3, generator=torch.Generator().manual_seed(0))
    value, trace = ExactTrace()(lambda z: weights * z**2 + z.flip(2), x, ExactTrace().directions(x))
    expected = (2 * weights * x).sum((1, 2)) + 2  # the middle column of two rows meets itself
    torch.testing.assert_close(trace, expected)
    torch.testing.assert_close(value, weights * x**2 + x.flip(2))
