"""Clauses of the scope on layers for sets and graphs, and on what networks look at, that no claim measures."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.attribution.cues import cue_conflict
from gnomon.graphs import graph_spectrum
from gnomon.models import DeepSets, PointNet
from gnomon.models.graphs import GATLayer, chebyshev_filter
from gnomon.training import Adam


def random_graph(nodes, seed, share=0.4):
    """Returns the adjacency matrix of a ring with random chords."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < share, 2)
    return torch.from_numpy(((a + a.T) > 0).astype(float))


def test_sums_take_sets_of_any_size_and_concatenations_do_not():
    """set-order-invariance: f(x_1, ..., x_M) for any M; the network of the concatenation changes by > 0.1 or fails."""
    torch.manual_seed(0)
    sums, listed = DeepSets(2, 3), nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    assert all(sums(torch.randn(1, m, 2)).shape == (1, 3) for m in (1, 3, 6))
    x = torch.randn(8, 6, 2)
    assert float((listed(x) - listed(x.flip(1))).abs().max().detach()) > 0.1
    with pytest.raises(RuntimeError):
        listed(torch.randn(1, 5, 2))


def fit_sets(net, target, members, steps):
    """Trains a network of sets and returns its squared error on new sets over the variance of the target."""
    x = torch.randn(3000, members, 1)
    y = target(x)
    trained = gnomon.train(net, (x[:2000], y[:2000]), steps=steps, batch=100, optimizer=Adam(3e-3)).model
    with torch.no_grad():
        return float((trained(x[2000:]) - y[2000:]).square().mean() / y[2000:].var())


@pytest.mark.full
def test_deep_sets_learn_medians_and_need_wide_sums_for_maxima():
    """deep-sets-invariant: median with R^2 >= 0.9; deep-sets-latent-dimension: max of 10: error(d=1) >= 2 error(d=10)."""
    torch.manual_seed(0)
    median = lambda x: x.median(1).values  # noqa: E731
    assert fit_sets(DeepSets(1, 1, width=64, latent=32), median, 7, 1500) <= 0.1
    narrow, wide = (fit_sets(DeepSets(1, 1, width=64, latent=d), lambda x: x.amax(1), 10, 1500) for d in (1, 10))
    assert narrow >= 2 * wide


def test_features_of_points_and_of_the_cloud_are_joined_for_segmentation():
    """pointnet: 64 local and 1024 global features; concat(local, global) per point moves with the points."""
    torch.manual_seed(0)
    net, x = PointNet(outputs=4).double(), torch.randn(1, 12, 3, dtype=torch.float64)

    def joined(cloud):
        local = net.phi(cloud @ net.align(cloud))
        local = local @ net.align_local(local)
        whole = net.psi(local).amax(1, keepdim=True)
        return torch.cat([local, whole.expand(-1, cloud.shape[1], -1)], 2).detach()

    order = torch.randperm(12)
    assert joined(x).shape == (1, 12, 64 + 1024)
    torch.testing.assert_close(joined(x[:, order]), joined(x)[:, order], rtol=1e-10, atol=1e-10)


def test_attention_on_graphs_is_equivariant():
    """graph-attention-network: f(P X, P A P^T) = P f(X, A) to 1e-6, weights zero beyond the neighbors."""
    torch.manual_seed(0)
    layer, x, a = GATLayer(3, 4).double(), torch.randn(9, 3, dtype=torch.float64), random_graph(9, 0)
    order = torch.randperm(9)
    with torch.no_grad():
        torch.testing.assert_close(layer(x[order], a[order][:, order]), layer(x, a)[order], rtol=0, atol=1e-10)
        q = layer.attention(x, a)
    near = (a + torch.eye(9)) > 0
    assert float(q[~near].abs().max()) == 0 and torch.allclose(q.sum(1), torch.ones(9, dtype=torch.float64))


def test_the_normalized_spectrum_lies_between_zero_and_two():
    """normalised-graph-laplacian: 0 <= lambda <= 2 on random graphs; lambda = 2 exactly for bipartite ones."""
    for seed in range(20):
        a = random_graph(9, seed, 0.15)
        values = np.asarray(graph_spectrum(a).normalized)
        scale = a.sum(1) ** -0.5
        by_hand = torch.linalg.eigvalsh(torch.eye(9) - scale[:, None] * a * scale).numpy()
        np.testing.assert_allclose(np.sort(values), by_hand, atol=1e-10)
        assert -1e-10 < values.min() and values.max() < 2 - 1e-6  # a ring of nine nodes is not bipartite
    even = random_graph(8, 0, 0.0)
    assert max(graph_spectrum(even).normalized) == pytest.approx(2, abs=1e-10)


def test_a_polynomial_on_a_ring_is_a_finite_impulse_response():
    """polynomial-graph-filter: sum_k a_k L^k x on a ring is a circular convolution with 2 K + 1 taps."""
    a, x = random_graph(11, 0, 0.0).numpy(), np.random.default_rng(0).normal(size=11)
    laplacian, coefficients = np.diag(a.sum(1)) - a, (0.3, -0.5, 0.2)
    matrix = sum(c * np.linalg.matrix_power(laplacian, k) for k, c in enumerate(coefficients))
    taps = matrix[0]
    assert np.count_nonzero(np.abs(taps) > 1e-12) == 5
    convolved = np.fft.ifft(np.fft.fft(taps) * np.fft.fft(x)).real
    np.testing.assert_allclose(matrix @ x, convolved, atol=1e-12)


def test_a_graph_convolution_of_channels_is_equivariant():
    """graph-conv-layer-multichannel: y(P X, P L P^T) = P y(X, L) to 1e-6."""
    generator = torch.Generator().manual_seed(0)
    a, x = random_graph(10, 0), torch.randn(10, 3, generator=generator, dtype=torch.float64)
    c, b = (torch.randn(*s, generator=generator, dtype=torch.float64) for s in ((2, 3, 4), (2,)))
    scale = a.sum(1) ** -0.5
    laplacian = torch.eye(10) - scale[:, None] * a * scale

    def layer(x, laplacian):
        return (
            torch.stack([sum(chebyshev_filter(x[:, n], laplacian, c[m, n]) for n in range(3)) for m in (0, 1)], 1) + b
        )

    order = torch.randperm(10, generator=generator)
    moved = layer(x[order], laplacian[order][:, order])
    torch.testing.assert_close(moved, layer(x, laplacian)[order], rtol=0, atol=1e-10)


def objects(count, generator, agree):
    """Images of a horizontal or a vertical bar, filled with one of two textures; cues agree or conflict or are free."""
    shape = torch.randint(2, (count,), generator=generator)
    texture = {"agree": shape, "conflict": 1 - shape, "free": torch.randint(2, (count,), generator=generator)}[agree]
    x = 0.1 * torch.randn(count, 1, 16, 16, generator=generator)
    fine = (torch.arange(16)[:, None] + torch.arange(16)) % 2 * 2.0 - 1
    coarse = (torch.arange(16)[:, None] // 2 + torch.arange(16) // 2) % 2 * 2.0 - 1
    for image, s, t, place in zip(x, shape, texture, torch.randint(12, (count,), generator=generator), strict=True):
        window = (
            (slice(int(place), int(place) + 4), slice(1, 15))
            if s
            else (slice(1, 15), slice(int(place), int(place) + 4))
        )
        image[0][window] += (fine if t else coarse)[window]
    return x, shape, texture


@pytest.mark.full
def test_small_receptive_fields_decide_by_texture_and_free_textures_lower_it():
    """texture-bias: texture decisions >= 0.8 under conflict with 3 x 3 fields; training on free textures: 30 points less."""
    generator, shares = torch.Generator().manual_seed(0), []
    for agree in ("agree", "free"):
        x, shape, _ = objects(600, generator, agree)
        torch.manual_seed(0)
        wide = nn.Conv2d(1, 16, 3) if agree == "agree" else nn.Conv2d(1, 16, 9)
        net = nn.Sequential(wide, nn.ReLU(), nn.Conv2d(16, 16, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                            nn.Linear(16, 2))  # fmt: skip
        net = gnomon.train(net, (x, shape), steps=400, batch=100, optimizer=Adam(1e-2)).model
        x, shape, texture = objects(300, generator, "conflict")
        shares.append(1 - cue_conflict(net, x, shape, texture).shape_bias)
    assert shares[0] >= 0.8 and shares[1] <= shares[0] - 0.3
