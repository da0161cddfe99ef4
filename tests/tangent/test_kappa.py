"""kappa against dense derivatives, and its scaling laws."""

import pytest
import torch
from torch import nn
from torch.func import functional_call, jacrev

from gnomon.core.errors import InputError
from gnomon.tangent import laziness_criterion


def net(width=6, outputs=1, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, outputs)).double()


def dense(module, x):
    """f, D f (m, p) and D^2 f (m, p, p) as plain arrays."""
    names, shapes = zip(*[(n, p.shape) for n, p in module.named_parameters()], strict=True)
    flat = torch.cat([p.detach().flatten() for p in module.parameters()])

    def f(w):
        parts = w.split([s.numel() for s in shapes])
        return functional_call(
            module, {n: p.reshape(s) for n, p, s in zip(names, parts, shapes, strict=True)}, (x,)
        ).flatten()

    return f(flat), jacrev(f)(flat), jacrev(jacrev(f))(flat)


def sup_of_second(h, tries=4000):
    """sup |D^2 f[u, u]| for two outputs: the largest eigenvalue of cos(t) H_1 + sin(t) H_2 over the circle."""
    angles = torch.linspace(0, 2 * torch.pi, tries).double()
    return max(float(torch.linalg.eigvalsh(a.cos() * h[0] + a.sin() * h[1])[-1]) for a in angles)


@pytest.mark.parametrize("alpha", [pytest.param(1.0, marks=pytest.mark.full), 3.0])
def test_one_output_agrees_with_the_hessian(alpha):
    model, x = net(), torch.randn(1, 3).double()
    y = torch.tensor([[0.7]]).double()
    f, j, h = dense(model, x)
    first, second = float(j.norm()), float(torch.linalg.eigvalsh(h[0]).abs().max())
    result = laziness_criterion(model, (x, y), alpha=alpha)
    assert result.first == pytest.approx(first, rel=1e-6)
    assert result.second == pytest.approx(second, rel=1e-4)
    gap = abs(alpha * float(f) - 0.7)
    assert result.squared == pytest.approx(gap / alpha * second / first**2, rel=1e-4)
    assert result.value == pytest.approx(gap**2 / 2 / (alpha * first * gap) * second / first, rel=1e-4)


@pytest.mark.full
def test_two_outputs_agree_with_a_search_over_all_directions():
    model, x = net(width=4, outputs=2), torch.randn(1, 3).double()
    f, j, h = dense(model, x)
    y = torch.tensor([[1.0, -1.0]]).double()
    result = laziness_criterion(model, (x, y), starts=4)
    assert result.first == pytest.approx(float(torch.linalg.matrix_norm(j, 2)), rel=1e-5)
    assert result.second == pytest.approx(sup_of_second(h), rel=1e-3)
    pull = j.T @ (f - y.flatten())
    loss = float(((f - y.flatten()) ** 2).sum() / 2)
    assert result.value == pytest.approx(loss / float(pull.norm()) * result.second / result.first, rel=1e-6)


class Times(nn.Module):
    def __init__(self, inner, factor):
        super().__init__()
        self.inner, self.factor = inner, factor

    def forward(self, x):
        return self.factor * self.inner(x)


@pytest.mark.full
def test_the_square_of_the_first_derivative_makes_it_invariant_to_units():
    model, x, y = net(outputs=2), torch.randn(4, 3).double(), torch.randn(4, 2).double()
    one, ten = laziness_criterion(model, (x, y)), laziness_criterion(Times(model, 10.0), (x, 10 * y))
    assert ten.squared == pytest.approx(one.squared, rel=1e-6)
    assert ten.value == pytest.approx(one.value, rel=1e-6)
    wrong = [k.distance * k.second / k.first for k in (one, ten)]  # the first power, as sometimes printed
    assert wrong[1] == pytest.approx(10 * wrong[0], rel=1e-6)


@pytest.mark.full
def test_alpha_drives_kappa_to_zero_only_from_a_centered_start():
    model, x, y = net(), torch.randn(5, 3).double(), torch.randn(5, 1).double()
    centered = [laziness_criterion(model, (x, y), alpha=a, centered=True).squared * a for a in (4.0, 64.0)]
    assert centered[0] == pytest.approx(centered[1], rel=1e-9)
    far = laziness_criterion(model, (x, y), alpha=1e6)
    plateau = float(model(x).detach().norm()) * far.second / far.first**2
    assert far.squared == pytest.approx(plateau, rel=1e-4)


def test_a_centered_model_is_as_far_from_its_targets_as_zero_is():
    model, x, y = net(), torch.randn(5, 3).double(), torch.randn(5, 1).double()
    found, plain = (
        laziness_criterion(model, (x, y), alpha=3.0, centered=c, starts=1, iterations=2) for c in (True, False)
    )
    assert found.distance == pytest.approx(float(y.norm()), rel=1e-12)
    assert plain.distance == pytest.approx(float((3 * model(x).detach() - y).norm()), rel=1e-12)
    assert (found.first, found.second) == pytest.approx((plain.first, plain.second), rel=1e-12)


def test_any_loss_and_its_verdict():
    model, x = net(outputs=3), torch.randn(4, 3).double()
    labels = torch.eye(3).double()[torch.tensor([0, 1, 2, 0])]

    def cross_entropy(out, target):
        return nn.functional.cross_entropy(out.reshape(-1, 3), target.reshape(-1, 3))

    result = laziness_criterion(model, (x, labels), loss=cross_entropy)
    f, j, _ = dense(model, x)
    out = f.clone().requires_grad_()
    (pull,) = torch.autograd.grad(cross_entropy(out, labels), out)
    loss = float(cross_entropy(f, labels))
    assert result.value == pytest.approx(loss / float((j.T @ pull).norm()) * result.second / result.first, rel=1e-6)
    assert "kappa is" in result.verdict and set(result.to_dict()) >= {"value", "squared", "first", "second"}
    assert result.plots()[0].marks[0].values == (result.value, result.squared)


def test_bad_requests_are_refused():
    model, x = net(), torch.randn(2, 3).double()
    with pytest.raises(InputError, match="alpha must be a number above 0 and finite, but it is 0"):
        laziness_criterion(model, (x, torch.zeros(2, 1)), alpha=0)
    with pytest.raises(InputError, match="2 inputs and 3 targets"):
        laziness_criterion(model, (x, torch.zeros(3, 1)))
