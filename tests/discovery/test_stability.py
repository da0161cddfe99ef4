"""Inclusion probabilities and intervals against a bootstrap that solves every replicate anew."""

import numpy as np
import pytest

from gnomon.discovery.forms.base import System
from gnomon.discovery.regression import Selection
from gnomon.discovery.stability import resampled


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_spreads_are_those_of_least_squares_on_resampled_blocks(complex_numbers):
    """Columns of very different size: the deviation of a coefficient is in the units of its own column."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 3)) * [1.0, 50.0, 0.02]
    if complex_numbers:
        rows = rows + 1j * rng.standard_normal((120, 3)) * [1.0, 50.0, 0.02]
    target = rows @ [2.0, -0.03, 0.0] + 0.3 * rng.standard_normal(120)
    blocks = np.arange(120) // 6
    inclusion, spread = resampled(System(rows, target, blocks, 120.0), (0, 1), Selection(replicates=40, seed=5))
    drawn, made = np.random.default_rng(5).integers(20, size=(40, 20)), []
    for choice in drawn:
        index = np.concatenate([np.flatnonzero(blocks == b) for b in choice])
        made.append(np.linalg.lstsq(rows[index][:, :2], target[index], rcond=None)[0])
    np.testing.assert_allclose(spread, np.std(made, axis=0), rtol=1e-6)
    assert spread[0] / spread[1] > 20 and inclusion[0] == inclusion[1] == 1.0 and inclusion[2] < 0.5
