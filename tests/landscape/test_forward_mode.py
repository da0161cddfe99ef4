"""The check that forward and backward derivatives agree, with errors of either sign."""

import pytest
import torch

from gnomon.landscape.jvp import jvp_matches_vjp


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_wrong_product_is_noticed_whatever_the_sign_of_its_error(sign, dtype):
    """f = w^2 has J v = 2 w v; with e added along it u . (J v) is off by e |u . 1| / |u| |J v|, on both sides of 1e-3."""
    w = torch.linspace(1.0, 2.0, 40, dtype=dtype, requires_grad=True)
    v = torch.linspace(0.5, -1.5, 40, dtype=dtype)
    right = (2 * w * v).detach()
    assert jvp_matches_vjp(w**2, [w], [v], right)
    for size, noticed in ((0.05, True), (1e-5, False)):
        wrong = right * (1 + sign * size)
        assert jvp_matches_vjp(w**2, [w], [v], wrong) != noticed
    assert (
        not jvp_matches_vjp(w**2, [w], [v], -right)
        and not jvp_matches_vjp(w**2, [w], [v], 0.5 * right)
        and not jvp_matches_vjp(w**2, [w], [v], 2 * right)
    )


@pytest.mark.parametrize(("error", "accepted"), [(0.5, True), (2.0, False)])
def test_a_product_that_cancels_may_be_off_by_a_hundred_roundings(error, accepted):
    """J v of the sum of w is the sum of v, here 0; 100 eps |J^T u| |v| is what rounding may leave."""
    w = torch.full((9,), 3.0, dtype=torch.float64, requires_grad=True)
    v = torch.tensor([4.0, -1.0, -3.0, 5.0, -5.0, 2.0, -2.0, 7.0, -7.0], dtype=torch.float64)
    rounding = 100 * torch.finfo(torch.float64).eps * 3 * float(v.norm())  # |J^T u| = 3 |u|
    moved = torch.full((1,), error * rounding, dtype=torch.float64)
    assert jvp_matches_vjp(w.sum().reshape(1), [w], [v], moved) == accepted
