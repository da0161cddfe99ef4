"""Outputs, energies and first weights of the models, written out once more with loops or numpy."""

from math import pi

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from gnomon import models
from gnomon.models.graphs import chebyshev_filter, gcn_matrix
from gnomon.models.hopfield import DenseAssociativeMemory
from gnomon.models.ode import runge_kutta
from gnomon.models.sets import TNet
from gnomon.models.tokens import mask_tokens, sentence_pair, word_pieces
from gnomon.models.vision import BagOfPatches

F64 = torch.float64


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


def test_attention_is_its_equations():
    layer = models.SelfAttention(6, heads=3, key_size=4).double()
    x = draw(2, 5, 6)
    wanted = torch.zeros(2, 5, 6, dtype=F64)
    for n in range(2):
        mixed = []
        for h in range(3):
            q = x[n] @ layer.query_key.weight[4 * h : 4 * h + 4].T
            v = x[n] @ layer.value.weight[4 * h : 4 * h + 4].T
            scores = torch.exp(q @ q.T / 4)
            mixed.append(scores / scores.sum(1, keepdim=True) @ v)
        wanted[n] = torch.cat(mixed, 1) @ layer.out.weight.T
    torch.testing.assert_close(layer(x), wanted)
    assert models.SelfAttention(7, heads=2).key_size == 3 and models.SelfAttention(2, heads=5).key_size == 1


def test_blocks_are_their_equations():
    x = draw(3, 4)
    layer = models.ResidualLayer(4, nn.Sigmoid()).double()
    torch.testing.assert_close(layer(x), x + torch.sigmoid(layer.linear(x)) - 0.5)
    dense, y = models.DenseBlock(4, growth=2, depth=3).double(), x
    for i in range(3):
        w, b = dense.layers[i].weight, dense.layers[i].bias
        y = torch.cat([y, (y @ w.T + b).clamp(min=0)], 1)
    torch.testing.assert_close(dense(x), y)
    block = models.AdditiveCouplingBlock(4, width=7).double()
    torch.testing.assert_close(block(x), torch.cat([x[:, 2:], x[:, :2] + block.body(x[:, 2:])], 1))
    assert [b.body[0].out_features for b in models.ReversibleNetwork(4, depth=2)] == [64, 64]


def test_layers_on_graphs_are_their_equations():
    a = torch.tensor([[0.0, 2.0, 0.0], [2.0, 0.0, 0.5], [0.0, 0.5, 0.0]], dtype=F64)
    degree = torch.tensor([3.0, 3.5, 1.5], dtype=F64)
    wanted = (a + torch.eye(3)) / (degree[:, None] * degree).sqrt()
    torch.testing.assert_close(models.gcn_matrix(a), wanted)
    x = draw(3, 2)
    gcn = models.GCNLayer(2, 4).double()
    torch.testing.assert_close(gcn(x, a), a @ (x @ gcn.linear.weight.T + gcn.linear.bias))
    gin = models.GINLayer(2, 4).double()
    gin.eps.data.fill_(0.3)
    torch.testing.assert_close(gin(x, a), gin.mlp(1.3 * x + a @ x))
    gat = models.GATLayer(2, 4).double()
    v = (x @ gat.value.weight.T).detach().numpy()
    own, other = (v @ part.weight.detach().numpy()[0] for part in (gat.own, gat.other))
    q = np.zeros((3, 3))
    for i, j in ((0, 1), (1, 0), (1, 2), (2, 1)):
        logit = own[i] + other[j]
        q[i, j] = np.exp(logit if logit > 0 else 0.2 * logit)
    q /= q.sum(1, keepdims=True)
    np.testing.assert_allclose(gat.attention(x, a).detach().numpy(), q, atol=1e-12)
    np.testing.assert_allclose(gat(x, a).detach().numpy(), q @ v, atol=1e-12)
    on = models.ModuleOnGraph(gcn, a)
    torch.testing.assert_close(on(x), gcn(x, a))
    c = torch.tensor([0.5, -1.0, 2.0, 0.3], dtype=F64)
    z = a - torch.eye(3)  # with the largest eigenvalue 2 by default
    powers = [torch.eye(3, dtype=F64), z, 2 * z @ z - torch.eye(3), 4 * z @ z @ z - 3 * z]
    torch.testing.assert_close(chebyshev_filter(x, a, c), sum(k * p @ x for k, p in zip(c, powers, strict=True)))


def test_energies_of_memories_are_their_equations():
    x = torch.tensor([[1.0, 1, -1, 1, -1], [1, -1, -1, 1, 1], [-1, 1, 1, 1, -1]], dtype=F64)
    s = torch.tensor([[1.0, -1, 1, 1, -1], [1, 1, 1, -1, -1]], dtype=F64)
    net = models.HopfieldNetwork(x)
    w = np.zeros((5, 5))
    for p in x.numpy():
        w += np.outer(p, p) / 5
    np.fill_diagonal(w, 0)
    np.testing.assert_allclose(net.weights.numpy(), w, atol=1e-12)
    np.testing.assert_allclose(net.energy(s).numpy(), [-0.5 * v @ w @ v for v in s.numpy()])
    few = models.HopfieldNetwork(x[:, :4])  # three patterns and three other units: no field is zero
    field = s[:, :4].numpy() @ (w[:4, :4] * 5 / 4)
    np.testing.assert_array_equal(few.step(s[:, :4]).numpy(), np.where(field > 0, 1, -1))
    overlaps = (s @ x.T).numpy()
    for order in (2, 3):
        energy = [-sum(max(o, 0) ** order for o in row) for row in overlaps]
        np.testing.assert_allclose(DenseAssociativeMemory(x, order=order).energy(s).numpy(), energy)
    assert DenseAssociativeMemory(x).order == 3
    memory = models.ModernHopfield(x, beta=0.7)
    energy = [-np.log(np.exp(0.7 * row).sum()) / 0.7 + v @ v / 2 for row, v in zip(overlaps, s.numpy(), strict=True)]
    np.testing.assert_allclose(memory.energy(s).numpy(), energy)
    assert models.ModernHopfield(x).beta == 1.0


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_step_of_a_dense_memory_lowers_the_energy_of_each_unit(order):
    g = torch.Generator().manual_seed(order)
    x = torch.randint(0, 2, (7, 6), generator=g).double() * 2 - 1
    states = torch.randint(0, 2, (20, 6), generator=g).double() * 2 - 1
    memory = DenseAssociativeMemory(x, order=order)
    wanted = states.clone()
    for n in range(20):
        for i in range(6):
            up, down = states[n].clone(), states[n].clone()
            up[i], down[i] = 1.0, -1.0
            wanted[n, i] = 1.0 if memory.energy(up) <= memory.energy(down) else -1.0
    assert torch.equal(memory.step(states), wanted) and not torch.equal(wanted, states)


def test_recall_goes_through_all_units_until_nothing_changes():
    x = torch.tensor([[1.0, 1, -1, 1, -1, 1, 1]], dtype=F64)
    net, start = models.HopfieldNetwork(x), torch.tensor([1.0, 1, -1, 1, -1, 1, -1], dtype=F64)
    assert torch.equal(net.recall(start), x[0])  # the last unit is wrong
    assert torch.equal(net.recall(start, sweeps=1), x[0]) and torch.equal(net.recall(start, sweeps=0), start)
    field = torch.zeros(2, 2, dtype=F64)
    net = models.HopfieldNetwork(x[:, :2])
    net.weights = field  # a field of zero gives +1
    assert net.recall(torch.tensor([-1.0, 1.0], dtype=F64)).tolist() == [1.0, 1.0]


def test_networks_have_the_stated_layers():
    net = models.mlp(3, 2, width=5, depth=3, activation=nn.Tanh)
    assert [tuple(p.weight.shape) for p in net if isinstance(p, nn.Linear)] == [(5, 3), (5, 5), (5, 5), (2, 5)]
    assert sum(isinstance(p, nn.Tanh) for p in net) == 3
    assert [tuple(p.weight.shape) for p in models.mlp(3) if isinstance(p, nn.Linear)] == [
        (512, 3),
        (512, 512),
        (1, 512),
    ]
    assert tuple(models.mlp(3, 2, depth=0)[0].weight.shape) == (2, 3)
    net = models.cnn()
    shapes = [tuple(p.weight.shape) for p in net if isinstance(p, nn.Conv2d | nn.Linear)]
    assert shapes == [(128, 1, 3, 3), (128, 128, 3, 3), (128, 128, 3, 3), (10, 128)]
    assert [p.kernel_size for p in net if isinstance(p, nn.AvgPool2d)] == [2]
    net, x = models.cnn(2, 4, width=3, depth=2).double(), draw(2, 2, 6, 6)
    h = nn.functional.conv2d(x, net[0].weight, net[0].bias, padding=1).clamp(min=0)
    h = h.reshape(2, 3, 3, 2, 3, 2).mean((3, 5))
    h = nn.functional.conv2d(h, net[3].weight, net[3].bias, padding=1).clamp(min=0)
    torch.testing.assert_close(net(x), h.mean((2, 3)) @ net[-1].weight.T + net[-1].bias)


def test_runge_kutta_follows_fields_that_depend_on_time():
    """dh/dt = t h from 1 to 3: h = exp((9 - 1) / 2); one step by hand."""
    one = torch.ones(1, dtype=F64)
    found = runge_kutta(lambda t, h: t * h, one, start=1.0, end=3.0, steps=200)
    assert float(found) == pytest.approx(np.exp(4.0), rel=1e-6)
    k1 = 1.0
    k2 = 1.5 * (1 + 0.5 * k1)
    k3 = 1.5 * (1 + 0.5 * k2)
    k4 = 2.0 * (1 + k3)
    single = runge_kutta(lambda t, h: t * h, one, start=1.0, end=2.0, steps=1)
    assert float(single) == pytest.approx(1 + (k1 + 2 * k2 + 2 * k3 + k4) / 6)
    default = runge_kutta(lambda t, h: 5 * h, one)
    assert float(default) == float(runge_kutta(lambda t, h: 5 * h, one, start=0.0, end=1.0, steps=20))
    assert models.NeuralODE(nn.Linear(2, 2)).integration_steps == 20


def test_the_adjoint_skips_frozen_and_unused_parameters():
    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Parameter(draw(2, 2)), nn.Parameter(draw(3), requires_grad=False)
            self.c, self.d = nn.Parameter(draw(4)), nn.Parameter(draw(2, seed=3))

        def forward(self, h):
            return torch.tanh(h @ self.a + self.b[:2]) + self.d

    field, x = Field(), draw(5, 2, seed=1)
    models.NeuralODE(field, integration_steps=30)(x).square().sum().backward()
    got = field.a.grad, field.d.grad
    wanted = torch.autograd.grad(runge_kutta(lambda t, h: field(h), x, steps=30).square().sum(), [field.a, field.d])
    for g, w in zip(got, wanted, strict=True):
        torch.testing.assert_close(g, w, rtol=1e-4, atol=1e-6)
    assert field.b.grad is None and torch.equal(field.c.grad, torch.zeros(4, dtype=F64))


def test_networks_through_given_points_take_their_values():
    knots, values = (
        torch.tensor([-1.0, 0.5, 2.0, 4.0]),
        torch.tensor([[1.0, 0.0], [3.0, -2.0], [-1.0, 5.0], [0.0, 0.5]]),
    )
    net = models.pwl_network(knots, values)
    x = np.linspace(-3, 6, 37)
    for k in range(2):
        v = values[:, k].double().numpy()
        first, last = (v[1] - v[0]) / 1.5, (v[3] - v[2]) / 2.0
        wanted = np.interp(x, knots.numpy(), v) + np.minimum(x + 1, 0) * first + np.maximum(x - 4, 0) * last
        np.testing.assert_allclose(net(torch.tensor(x)[:, None])[:, k].detach().numpy(), wanted, atol=1e-12)


def test_positions_are_sines_and_cosines():
    for channels in (6, 5):
        table = models.sinusoidal_positions(7, channels, base=50.0)
        size = 6
        wanted = [
            [(np.sin, np.cos)[j % 2](t * 50.0 ** (-2 * (j // 2) / size)) for j in range(channels)] for t in range(7)
        ]
        np.testing.assert_allclose(table.numpy(), wanted, atol=1e-6)
    w = 10000.0 ** (-2 / 4)
    assert float(models.sinusoidal_positions(9, 4)[8, 2]) == pytest.approx(np.sin(8 * w), abs=1e-6)


def test_a_linear_recurrent_unit_starts_with_eigenvalues_in_a_ring():
    """|lambda|^2 is uniform between the squares of the radii, the angle uniform over the circle."""
    torch.manual_seed(0)
    n = 20_000
    layer = models.LinearRecurrentUnit(5, n, 3, radius=(0.4, 0.9))
    values = layer.eigenvalues().detach().numpy()
    squares = np.abs(values) ** 2
    np.testing.assert_allclose(
        values, np.exp(-np.exp(layer.nu.detach().numpy()) + 1j * np.exp(layer.theta.detach().numpy())), rtol=1e-5
    )
    u = (squares - 0.16) / (0.81 - 0.16)
    assert u.min() > -1e-4 and u.max() < 1 + 1e-4 and abs(u.mean() - 0.5) < 4 / np.sqrt(12 * n)
    angle = np.exp(layer.theta.detach().numpy())
    assert angle.max() < 2 * pi + 1e-3 and abs(angle.mean() - pi) < 4 * 2 * pi / np.sqrt(12 * n)
    assert float(layer.into.detach().std()) == pytest.approx(1 / np.sqrt(10), rel=0.02)
    assert float(layer.out.detach().std()) == pytest.approx(1 / np.sqrt(n), rel=0.02)
    wide = models.LinearRecurrentUnit(1, n, 1).eigenvalues().detach().abs().numpy() ** 2
    assert abs(wide.mean() - 0.99**2 / 2) < 4 * 0.99**2 / np.sqrt(12 * n) and wide.max() < 0.99**2 + 1e-4


def test_sets_are_summed_and_clouds_take_maxima():
    x = draw(2, 5, 3)
    net = models.DeepSets(3, 2, width=7, latent=4).double()
    torch.testing.assert_close(net(x), net.rho(sum(net.phi(x[:, m]) for m in range(5))))
    default = models.DeepSets(3, 2)
    assert [(p.in_features, p.out_features) for p in (*default.phi, *default.rho) if isinstance(p, nn.Linear)] == [
        (3, 64), (64, 64), (64, 64), (64, 2)
    ]  # fmt: skip
    align = TNet(3, width=6).double()
    align.out.weight.data, align.out.bias.data = draw(9, 6), draw(9, seed=1)
    top = torch.stack([align.phi(x[:, m]) for m in range(5)]).max(0).values
    a = torch.eye(3) + (top @ align.out.weight.T + align.out.bias).reshape(2, 3, 3)
    torch.testing.assert_close(align(x), a)
    penalty = [float(((torch.eye(3) - m @ m.T) ** 2).sum()) for m in a.detach()]
    assert float(align.orthogonality(x).detach()) == pytest.approx(sum(penalty) / 2)
    assert TNet(3).phi[0].out_features == 64
    cloud = models.PointNet(outputs=2, local=4, features=5).double()
    for part in (cloud.align, cloud.align_local):
        part.out.weight.data = 0.1 * draw(*part.out.weight.shape, seed=2)
    local = cloud.phi(torch.stack([p @ m for p, m in zip(x, cloud.align(x), strict=True)]))
    features = cloud.psi(torch.stack([p @ m for p, m in zip(local, cloud.align_local(local), strict=True)]))
    torch.testing.assert_close(cloud.features(x), features)
    torch.testing.assert_close(cloud(x), cloud.rho(features.max(1).values))
    assert torch.equal(cloud.critical(x), features.max(1).indices)
    sizes = [
        (p.in_features, p.out_features)
        for part in (cloud.phi, cloud.psi, cloud.rho)
        for p in part
        if isinstance(p, nn.Linear)
    ]
    assert sizes == [(3, 4), (4, 4), (4, 8), (8, 5), (5, 16), (16, 2)]
    default = models.PointNet(outputs=2)
    assert (default.phi[0].out_features, default.psi[2].out_features) == (64, 1024)


def test_hidden_tokens_spare_special_ones_and_keep_a_tenth():
    tokens = torch.arange(4).repeat(20_000)
    seen, asked = mask_tokens(
        tokens, mask=9, vocabulary=8, generator=torch.Generator().manual_seed(0), rate=0.5, special=torch.tensor([3])
    )
    assert not bool(asked[tokens == 3].any()) and torch.equal(seen[~asked], tokens[~asked])
    n = int(asked.sum())
    for found, rate in (((seen == 9), 0.8), ((seen == tokens), 0.1 + 0.1 / 8)):
        assert abs(float(found[asked].double().mean()) - rate) < 4 * (rate / n) ** 0.5
    others = seen[asked & (seen != 9) & (seen != tokens)]
    assert set(others.tolist()) == set(range(8))  # random tokens are from the whole vocabulary
    default = mask_tokens(tokens, mask=9, vocabulary=8, generator=torch.Generator().manual_seed(0))[1]
    assert abs(float(default.double().mean()) - 0.15) < 4 * (0.15 / 80_000) ** 0.5


def test_words_are_cut_into_the_longest_pieces():
    known = {"a", "ab", "##b", "##c", "##cd", "##d"}
    assert word_pieces("abcd", known) == ["ab", "##cd"] and word_pieces("acb", known) == [
        "a",
        "##c",
        "##b",
    ]
    assert word_pieces("abx", known) == ["[UNK]"] and word_pieces("", known) == []
    assert sentence_pair(["a", "b"]) == (["[CLS]", "a", "b", "[SEP]"], [0, 0, 0, 0])


def test_patches_are_cut_row_by_row():
    x = draw(2, 3, 4, 6)
    found = models.patchify(x, 2)
    assert found.shape == (2, 6, 12)
    for i in range(2):
        for j in range(3):
            patch = x[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].reshape(2, 12)
            assert torch.equal(found[:, 3 * i + j], patch)
    bag = BagOfPatches(patch=2, channels=3, outputs=4, width=5).double()
    torch.testing.assert_close(bag(x), sum(bag.body(found[:, p]) for p in range(6)) / 6)
    assert [p.out_features for p in BagOfPatches(patch=2).body if isinstance(p, nn.Linear)] == [64, 64, 10]


def test_a_vision_transformer_reads_its_class_token():
    torch.manual_seed(0)
    net = models.VisionTransformer(side=6, patch=2, channels=2, outputs=3, width=8, heads=2, depth=2).double()
    net.token.data = draw(1, 1, 8)
    x = draw(3, 2, 6, 6)
    z = models.patchify(x, 2) @ net.embed.weight.T + net.embed.bias
    z = torch.stack([torch.cat([net.token[0], row]) for row in z]) + net.positions[0]
    z = net.layers[1](net.layers[0](z))[:, 0]
    z = (z - z.mean(1, keepdim=True)) / (z.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(net(x), z @ net.head.weight.T + net.head.bias)
    assert net.layers[0].linear1.out_features == 32 and net.layers[0].dropout.p == 0.0
    default = models.VisionTransformer(side=32, patch=2)
    assert default.positions.shape == (1, 257, 64) and float(default.positions.detach().std()) == pytest.approx(
        0.02, rel=0.03
    )
    assert default.head.out_features == 10 and len(default.layers) == 2 and default.embed.in_features == 4
    assert default.layers[0].self_attn.num_heads == 4


def test_graphs_of_a_batch_are_normalized_by_their_own_degrees():
    """d = 2, 3, 2 along a path and 1, 2, 2 with a lone node."""
    path = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    lone = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    found = gcn_matrix(torch.stack([path, lone]))
    side = 6**-0.5
    assert_close(found[0], torch.tensor([[1 / 2, side, 0.0], [side, 1 / 3, side], [0.0, side, 1 / 2]]))
    assert_close(found[1], torch.tensor([[1.0, 0.0, 0.0], [0.0, 1 / 2, 1 / 2], [0.0, 1 / 2, 1 / 2]]))
