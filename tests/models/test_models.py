"""The models that torch.nn lacks, against loops, closed forms and their own invariances."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from gnomon import models
from gnomon.models.graphs import chebyshev_filter
from gnomon.models.hopfield import DenseAssociativeMemory
from gnomon.models.ode import runge_kutta
from gnomon.models.scan import linear_scan
from gnomon.models.tokens import mask_tokens
from gnomon.models.vision import BagOfPatches

F64 = torch.float64


@pytest.mark.parametrize("times", [1, 2, 3, 7, 64, 4096])
@pytest.mark.parametrize("complex_", [False, True])
def test_the_scan_equals_the_loop(times, complex_):
    generator = torch.Generator().manual_seed(times)
    dtype = torch.complex128 if complex_ else F64
    a, b = (torch.randn(2, times, 3, dtype=dtype, generator=generator) * s for s in (0.7, 1.0))
    state, states = torch.zeros(2, 3, dtype=dtype), []
    for t in range(times):
        state = a[:, t] * state + b[:, t]
        states.append(state)
    wanted = torch.stack(states, 1)
    assert float((linear_scan(a, b) - wanted).abs().max() / wanted.abs().max()) <= 1e-10


def test_the_scan_starts_where_it_is_told():
    a, b = torch.rand(1, 5, 2, dtype=F64), torch.rand(1, 5, 2, dtype=F64)
    whole = linear_scan(a, b)
    assert torch.allclose(linear_scan(a[:, 2:], b[:, 2:], whole[:, 1]), whole[:, 2:])


def test_min_gru_is_its_equation():
    layer, x = models.MinGRU(3, 4).double(), torch.randn(2, 6, 3, dtype=F64)
    h = torch.zeros(2, 4, dtype=F64)
    for t in range(6):
        z = torch.sigmoid(layer.gate(x[:, t]))
        h = (1 - z) * h + z * layer.candidate(x[:, t])
    assert torch.allclose(layer(x)[:, -1], h, atol=1e-12)


def test_a_linear_recurrent_unit_is_its_equation_and_stays_stable():
    layer, x = models.LinearRecurrentUnit(2, 5, 3).double(), torch.randn(1, 9, 2, dtype=F64)
    factor = layer.eigenvalues().detach()
    into, out = torch.view_as_complex(layer.into.detach()), torch.view_as_complex(layer.out.detach())
    s = torch.zeros(5, dtype=torch.complex128)
    for t in range(9):
        s = factor * s + (1 - factor.abs() ** 2).sqrt() * (into @ x[0, t].to(into))
    wanted = (out @ s).real + layer.direct(x[0, -1])
    assert torch.allclose(layer(x)[0, -1], wanted, atol=1e-12)
    with torch.no_grad():
        layer.nu.add_(3 * torch.randn(5))
    assert bool((layer.eigenvalues().abs() < 1).all())


def test_positions_turn_by_a_fixed_rotation():
    p = models.sinusoidal_positions(20, 8).double()
    k = torch.arange(4, dtype=F64)
    w = 10000.0 ** (-2 * k / 8)
    for step in (1, 5):
        c, s = (step * w).cos(), (step * w).sin()
        turned = torch.stack([c * p[:-step, 0::2] + s * p[:-step, 1::2], c * p[:-step, 1::2] - s * p[:-step, 0::2]], 2)
        assert torch.allclose(turned.flatten(1), p[step:], atol=1e-6)  # the table is in float32


def test_hidden_tokens_have_their_rates():
    n = 100_000
    tokens = torch.randint(50, (n,), generator=torch.Generator().manual_seed(1))
    seen, asked = mask_tokens(tokens, mask=50, vocabulary=50, generator=torch.Generator().manual_seed(2))
    masked, kept = seen == 50, asked & (seen == tokens)
    for found, rate in ((asked, 0.15), (masked, 0.12), (asked & ~masked & ~kept, 0.015 * 49 / 50)):
        assert abs(float(found.double().mean()) - rate) <= 4 * math.sqrt(rate / n)


def test_hopfield_energy_falls_and_patterns_stay():
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 2, (10, 200), generator=generator).double() * 2 - 1
    net = models.HopfieldNetwork(x)
    assert torch.equal(net.recall(x), x)  # n = d / 20
    state = torch.randint(0, 2, (200,), generator=generator).double() * 2 - 1
    energies = [net.energy(state)]
    for i in range(200):
        state[i] = 1.0 if float(state @ net.weights[i]) >= 0 else -1.0
        energies.append(net.energy(state))
    assert all(b <= a + 1e-12 for a, b in zip(energies[:-1], energies[1:], strict=True))


def test_dense_memories_hold_more():
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 2, (60, 60), generator=generator).double() * 2 - 1
    wrong = {order: float((DenseAssociativeMemory(x, order=order).step(x) != x).double().mean()) for order in (2, 4)}
    assert wrong[2] > 0.02 and wrong[4] == 0.0


def test_modern_hopfield_is_attention_and_its_energy_falls():
    generator = torch.Generator().manual_seed(0)
    x, s = torch.randn(6, 5, dtype=F64, generator=generator), torch.randn(3, 5, dtype=F64, generator=generator)
    memory = models.ModernHopfield(x, beta=5**-0.5)
    attended = nn.functional.scaled_dot_product_attention(s[None], x[None], x[None])[0]
    assert torch.allclose(memory.step(s), attended, atol=1e-12)
    assert bool((memory.energy(memory.step(s)) <= memory.energy(s)).all())


def test_points_that_are_not_critical_do_not_count():
    torch.manual_seed(0)
    net, x = models.PointNet(outputs=3, local=8, features=4), torch.randn(1, 40, 3)
    keep = torch.unique(net.critical(x))
    assert len(keep) <= 4
    both = [net.features(x)[:, :, :].amax(1), net.features(x)[:, keep].amax(1)]
    assert torch.equal(*both)


def random_graph(n, rate, seed):
    rng = np.random.default_rng(seed)
    a = np.triu(rng.uniform(size=(n, n)) < rate, 1).astype(float)
    return torch.tensor(a + a.T)


def test_the_matrix_of_graph_convolution_has_norm_one():
    for seed in range(20):
        a = random_graph(12, 0.3, seed)
        values, vectors = torch.linalg.eigh(models.gcn_matrix(a))
        assert abs(float(values[-1]) - 1) < 1e-10 and float(values[0]) > -1
        direction = (a.sum(1) + 1).sqrt()
        assert torch.allclose(models.gcn_matrix(a) @ direction, direction, atol=1e-10)
    del vectors


@pytest.mark.parametrize("kind", [models.GCNLayer, models.GATLayer, models.GINLayer])
def test_layers_on_graphs_commute_with_new_names_of_nodes(kind):
    a, order = random_graph(7, 0.5, 0) + torch.eye(7), torch.randperm(7, generator=torch.Generator().manual_seed(0))
    layer, x = kind(3, 4).double(), torch.randn(7, 3, dtype=F64)
    assert torch.allclose(layer(x[order], a[order][:, order]), layer(x, a)[order], atol=1e-12)


def test_graph_attention_is_static():
    layer, x = models.GATLayer(3, 4).double(), torch.randn(6, 3, dtype=F64)
    orders = layer.attention(x, torch.ones(6, 6)).argsort(1)
    assert bool((orders == orders[0]).all())


def test_chebyshev_equals_the_spectral_filter():
    a = random_graph(8, 0.5, 1)
    lap = torch.diag(a.sum(1)) - a
    values, vectors = torch.linalg.eigh(lap)
    c, x, top = torch.tensor([0.3, -0.5, 0.2, 0.7], dtype=F64), torch.randn(8, dtype=F64), float(values[-1])
    response = torch.tensor(np.polynomial.chebyshev.chebval(2 * values.numpy() / top - 1, c.numpy()))
    wanted = vectors @ (response * (vectors.T @ x))
    assert torch.allclose(chebyshev_filter(x, lap, c, largest=top), wanted, atol=1e-10)


def test_reversible_networks_keep_volumes():
    net, x = models.ReversibleNetwork(6, depth=10, width=16).double(), torch.randn(6, dtype=F64)
    jacobian = torch.func.jacrev(net)(x).detach()
    assert abs(float(torch.linalg.slogdet(jacobian)[1])) < 1e-10
    assert torch.allclose(net.inverse(net(x)), x, atol=1e-10)


def test_the_adjoint_gives_the_gradient_of_the_solver():
    torch.manual_seed(0)
    field = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    x = torch.randn(4, 3, dtype=F64, requires_grad=True)
    through = runge_kutta(lambda t, h: field(h), x, steps=20).square().sum()
    wanted = torch.autograd.grad(through, [x, *field.parameters()])
    got = torch.autograd.grad(models.NeuralODE(field, integration_steps=20)(x).square().sum(), [x, *field.parameters()])
    for g, w in zip(got, wanted, strict=True):
        assert float((g - w).norm() / w.norm()) <= 1e-5


def test_runge_kutta_has_order_four():
    errors = [abs(float(runge_kutta(lambda t, h: h, torch.ones(1, dtype=F64), steps=n)) - math.e) for n in (4, 8, 16)]
    slopes = np.diff(np.log(errors)) / np.log(2)
    assert np.all(np.abs(slopes + 4) < 0.3), slopes


def test_a_vision_transformer_sees_order_and_a_bag_does_not():
    torch.manual_seed(0)
    vit, bag = models.VisionTransformer(side=8, patch=4, width=16, heads=2, depth=1), BagOfPatches(patch=4)
    x = torch.randn(2, 1, 8, 8)
    turned = x.roll(4, 2)
    assert torch.allclose(bag(x), bag(turned), atol=1e-6) and not torch.allclose(vit(x), vit(turned), atol=1e-4)


def test_a_state_that_starts_at_zero_has_finite_parameters(monkeypatch):
    """|lambda|^2 is at least 1e-6 and the angle at least 2 pi 1e-6, because both are stored as logarithms."""
    monkeypatch.setattr(torch, "rand", lambda *shape, **known: torch.zeros(*shape))
    found = models.LinearRecurrentUnit(2, 3, 1).eigenvalues().detach()
    torch.testing.assert_close(found.abs(), torch.full((3,), 1e-3), rtol=1e-3, atol=0)
    torch.testing.assert_close(found.angle(), torch.full((3,), 2e-6 * torch.pi), rtol=1e-3, atol=0)
