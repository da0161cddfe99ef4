import numpy as np
import pytest
import torch
from torch import nn

from gnomon.core import InputError
from gnomon.data import fields
from gnomon.discovery import (
    SpectralDerivative,
    TermLibrary,
    distill_equation,
    extrapolation_gap,
    network_pde_residual,
    pde_residual,
)


def test_the_taylor_green_vortex_solves_navier_stokes():
    n, nu = 24, 0.1
    x = np.linspace(0, 2 * np.pi, n, endpoint=False)
    t = np.linspace(0, 0.1, 25)
    a, b, c = x[:, None, None], x[None, :, None], np.exp(-2 * nu * t)
    flow = {"u": np.cos(a) * np.sin(b) * c, "v": -np.sin(a) * np.cos(b) * c}
    flow["p"] = -(np.cos(2 * a) + np.cos(2 * b)) * c**2 / 4
    h = (x[1], x[1])
    for equation in ("u_x + v_y = 0", "u_t + u*u_x + v*u_y = -p_x + 0.1*u_xx + 0.1*u_yy"):
        assert pde_residual(flow, h, t, equation, space=SpectralDerivative()).relative < 1e-10
    assert (
        pde_residual(flow, h, t, "u_t + u*u_x + v*u_y = 0.1*u_xx + 0.1*u_yy", space=SpectralDerivative()).relative > 0.1
    )


def test_residuals_of_simulated_fields_and_of_a_wrong_law():
    run = fields.burgers()
    right = pde_residual(run.fields, run.dx, run.dt, "u_t = -u*u_x + 0.1*u_xx").relative
    wrong = pde_residual(run.fields, run.dx, run.dt, "u_t = -u*u_x").relative
    assert right < 0.01 < 0.1 < wrong and "holds up to" in pde_residual(run.fields, run.dx, run.dt, "u_t = 0").verdict


class Heat(nn.Module):
    def forward(self, z):
        return torch.exp(-0.5 * z[:, 1:]) * torch.sin(z[:, :1])


def test_the_residual_of_a_network_by_autograd():
    points = torch.rand(20, 2, dtype=torch.float64)
    assert network_pde_residual(Heat(), points, "u_t = 0.5*u_xx").relative < 1e-12
    assert network_pde_residual(Heat(), points, "u_t = u_xx").relative > 0.3
    with pytest.raises(InputError, match="do not have a column for each letter"):
        network_pde_residual(Heat(), points, "u_t = u_xx", letters="xyt")
    with pytest.raises(InputError, match="'q' is not known"):
        network_pde_residual(Heat(), points, "u_t = q")


def test_a_trained_layer_is_distilled_into_advection_and_diffusion():
    torch.manual_seed(0)
    n, h = 96, 0.2
    k = torch.arange(1, 9)
    x = torch.arange(n) * h
    size, phase = torch.randn(60, 1, 8) / k, 6 * torch.rand(60, 1, 8)
    inner = 0.3 * k * x[:, None] + phase
    waves = (size * torch.sin(inner)).sum(2)
    target = (-0.7 * size * 0.3 * k * torch.cos(inner) - 0.2 * size * (0.3 * k) ** 2 * torch.sin(inner)).sum(2)
    layer = nn.Conv1d(1, 1, 7, padding=3, bias=False)
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (layer(waves[:, None])[:, 0, 8:-8] - target[:, 8:-8]).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    before = layer.weight.detach().clone()
    found = distill_equation(layer, TermLibrary(degree=2, order=3), waves[:, None], dx=h)
    assert set(found.equation.terms) == {"u_x", "u_xx"} and found.fidelity > 0.98
    assert abs(found.equation.coefficient("u_x") + 0.7) < 0.035 and abs(found.equation.coefficient("u_xx") - 0.2) < 0.01
    assert torch.equal(layer.weight, before) and "explains" in found.verdict


def test_the_gap_outside_the_data_is_the_relative_error():
    x = torch.linspace(0, 1, 20)
    gap = extrapolation_gap(lambda x: 0 * x + 1, lambda x: 2.02 * x, (x, 2 * x), (x + 5, 2 * x + 10))
    assert abs(gap.law_outside - 0.01) < 1e-6 and gap.ratio > 10
    with pytest.raises(InputError, match="1 values for 20 targets"):
        extrapolation_gap(lambda x: x[:1], lambda x: x, (x, x), (x, x))


class TwoFields(nn.Module):
    def forward(self, z):
        x, y, t = z.T
        return torch.stack([x**2 * y * t, torch.exp(x - 2 * t) + y**3], 1)


def test_residuals_of_several_fields_columns_and_powers_are_the_sum_of_their_terms():
    z = torch.rand(15, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5
    text = "u_t - 2*v_yy*u^2 + 0.5*x*v_t = 3*u_xxy*v - u_xx^2 + 1"
    found = network_pde_residual(TwoFields(), z, text, letters="xyt", fields="uv")
    x, y, t = z.numpy().T
    u, v = x**2 * y * t, np.exp(x - 2 * t) + y**3
    parts = [
        x**2 * y, -2 * 6 * y * u**2, 0.5 * x * -2 * np.exp(x - 2 * t), -3 * 2 * t * v, (2 * y * t) ** 2, -np.ones(15)
    ]  # fmt: skip
    np.testing.assert_allclose(found.values, sum(parts), rtol=1e-10)
    assert found.relative == pytest.approx(np.linalg.norm(sum(parts)) / max(map(np.linalg.norm, parts)))


def test_a_derivative_that_does_not_exist_is_zero():
    class Flat(nn.Module):
        def forward(self, z):
            return 2 * z[:, :1] + 1

    z = torch.rand(6, 2, dtype=torch.float64)
    found = network_pde_residual(Flat(), z, "u_x + u_tt + u_xx = 2")
    np.testing.assert_allclose(found.values, 0.0, atol=1e-12)


def test_residuals_of_data_are_relative_to_the_largest_term():
    x, t = np.arange(20) * 0.1, np.arange(15) * 0.2
    u = x[:, None] ** 2 + 3 * t
    found = pde_residual(u, 0.1, 0.2, "u_t = 2*u_xx - 0.5*u_x")
    np.testing.assert_allclose(found.values, 3 - 4 + x[:, None] + 0 * t, atol=1e-8)
    norm = np.linalg.norm(np.broadcast_to(x[:, None] - 1, u.shape))
    assert found.relative == pytest.approx(norm / (4 * np.sqrt(300)), rel=1e-7)
