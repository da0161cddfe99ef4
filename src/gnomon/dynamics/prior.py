"""Checks prior covariances of a Gaussian process, and removes rounding errors from variances."""

import torch
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.arrays import Array
from gnomon.dynamics.problem import finite, of_shape


def prior_at_test_points(between: Array | None, own: Array | None, m: int, n: int) -> tuple[Tensor, Tensor]:
    """Checks and returns prior covariances of a Gaussian process: test with training points, and test points
    themselves.
    """
    if between is None or own is None:
        fix = "Pass nngp_test, (m, n), and nngp_test_test, (m, m) or its diagonal (m,)"
        raise InputError("the prior at the test points is missing", accepted="a prior on all points", fix=fix)
    table = finite(own, "nngp_test_test")
    if table.shape not in ((m,), (m, m)):
        what = f"nngp_test_test must be of shape ({m}, {m}) or ({m},), but it has shape {tuple(table.shape)}"
        raise InputError(f"{what}")
    return of_shape(between, "nngp_test", (m, n)), table


def positive(variance: Tensor, own: Tensor) -> Tensor:
    """Returns variances with tiny negative values (rounding errors) set to zero; raises an error for larger ones."""
    scale = float((own if own.ndim == 1 else own.diagonal()).abs().max()) or 1.0
    # For nearly singular kernels, correct inputs give variances with rounding errors of about the square root of eps.
    if float(variance.min()) < -(torch.finfo(torch.float64).eps ** 0.5) * scale:
        what = f"a variance is {float(variance.min()):.2e}, with a prior of scale {scale:.2e}"
        fix = "Check that all kernels belong to the same network and the same points, in the same order"
        raise InputError(what, accepted="one prior on all points", fix=fix)
    return variance.clamp_min(0)
