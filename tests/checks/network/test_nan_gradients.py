"""The function where a gradient stops being finite."""

import pytest
import torch

from gnomon.checks.network.nan_gradients import nan_gradient_findings


def weights(*values):
    return torch.tensor(values, requires_grad=True)


@pytest.mark.parametrize(
    "loss, name",
    [
        (lambda w: torch.where(w > 0, w.sqrt(), torch.zeros_like(w)).sum(), "sqrt"),
        (lambda w: torch.where(w > 0, w.log(), torch.zeros_like(w)).sum(), "log"),
        (lambda w: torch.where(w > 0, 1 / (w + 1), torch.zeros_like(w)).sum(), "reciprocal"),
    ],
)
def test_the_function_is_named_although_where_hides_its_value(loss, name):
    w = weights(-1.0, 0.0, 2.0)
    assert bool(loss(w).isfinite())
    (found,) = nan_gradient_findings(lambda: loss(w))
    assert found.values["function"] == name and "0 * inf" in found.fix
    assert w.grad is None or bool(w.grad.isnan().any())


def test_finite_gradients_and_losses_that_are_not_finite_raise_no_alarm():
    w = weights(-1.0, 0.5, 2.0)
    assert nan_gradient_findings(lambda: w.clamp(min=1e-6).sqrt().sum()) == ()
    assert nan_gradient_findings(lambda: w.sqrt().sum()) == ()  # the loss itself is NaN, which another check reports
    assert nan_gradient_findings(lambda: w.detach().sum()) == ()
