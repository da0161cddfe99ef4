"""Clauses of the scope on sets and graphs, each by a computation that shares no code with the function tested."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.graph_set import gcn_layer
from gnomon.graphs import adjacency, graph_spectrum, node_influence
from gnomon.graphs.smoothing import propagation_norm
from gnomon.models import DeepSets, PointNet
from gnomon.models.graphs import GATLayer, GCNLayer, GINLayer, gcn_matrix
from gnomon.models.sets import TNet
from gnomon.symmetry import SetLinear, SetPool, equivariance, permutations
from tests.atlas.test_clauses_graph_set_layers import fit_sets


def random_graph(nodes, seed, share=0.3):
    """Returns the adjacency matrix of a ring with random chords, as numbers of type float64."""
    rng = np.random.default_rng(seed)
    a = np.roll(np.eye(nodes), 1, 0) + np.triu(rng.uniform(size=(nodes, nodes)) < share, 2)
    return torch.from_numpy(((a + a.T) > 0).astype(float))


class Maximum(nn.Module):
    """The largest value of each feature over the members of a set."""

    def forward(self, x):
        return x.amax(1)


def test_errors_under_permutations_of_members_are_those_computed_by_hand():
    """set-order-invariance, set-equivariance: 0 for sums, means, maxima and f(P X) = P f(X); by hand for lists."""
    torch.manual_seed(0)
    x, group = torch.randn(6, 5, 3).double(), permutations(5, 4, seed=1)
    each = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    for pool in (SetPool(), Maximum()):
        assert equivariance(nn.Sequential(each, pool).double(), x, group).output.invariance < 1e-12
    layer = SetLinear(3, 2).double()
    own = equivariance(layer, x, group).output
    assert own.equivariance < 1e-12 and own.invariance > 0.1
    listed = nn.Sequential(nn.Flatten(), nn.Linear(15, 2)).double()
    f = listed(x).detach()
    by_hand = [((listed(move(x)) - f).norm(dim=1) / f.norm(dim=1)).detach().mean() for move in group.moves]
    found = equivariance(listed, x, group).output.invariance
    assert found == pytest.approx(float(torch.stack(by_hand).mean()), rel=1e-9) and found > 0.1
    cycle = torch.tensor([1, 2, 0, 3, 4])  # P is not its own inverse, so P f(P X) = f(X) is false
    y = layer(x).detach()
    assert float((layer(x[:, cycle]) - y[:, cycle]).detach().abs().max()) < 1e-12
    assert float((layer(x[:, cycle])[:, cycle] - y).detach().abs().max()) > 0.1


def test_graph_outputs_move_once_with_the_nodes_and_not_twice():
    """graph-equivariance: f(P X, P A P^T) = P f(X, A); the misprint P f(P X, P A P^T) = f(X, A) fails for 3-cycles."""
    torch.manual_seed(0)
    a, x, layer = random_graph(7, 0), torch.randn(7, 3).double(), GCNLayer(3, 4).double()
    order = torch.tensor([1, 2, 0, 3, 4, 5, 6])
    y, moved = layer(x, gcn_matrix(a)).detach(), layer(x[order], gcn_matrix(a[order][:, order])).detach()
    torch.testing.assert_close(moved, y[order], rtol=0, atol=1e-12)
    assert float((moved[order] - y).abs().max()) > 0.01


def test_tnet_penalty_is_zero_for_rotations():
    """pointnet-tnet: |I - A A^T|^2 is 0 for an orthogonal A that is not I, and 9 for A = diag(1, 1, 2)."""
    net, x = TNet(3).double(), torch.randn(4, 10, 3).double()
    turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)).double())[0]
    net.out.bias.data = (turn - torch.eye(3).double()).flatten()
    assert float(net.orthogonality(x).detach()) < 1e-24
    net.out.bias.data = torch.diag(torch.tensor([0.0, 0.0, 1.0]).double()).flatten()  # A A^T = diag(1, 1, 4)
    assert float(net.orthogonality(x).detach()) == pytest.approx(9.0)


def test_graphs_have_a_symmetric_matrix_and_one_row_of_features_for_each_node():
    """graph-definition-adjacency: a_ij = a_ji for the edges; X has M rows of d features, which layers keep apart."""
    edges = torch.tensor([[0, 1, 3], [1, 2, 0]])
    both = torch.cat([edges, edges.flip(0)], 1)
    a = adjacency(both, nodes=5)
    assert torch.equal(a, a.T) and float(a.sum()) == 6 and float(a.diagonal().sum()) == 0 and a.shape == (5, 5)
    x = torch.randn(5, 3).to(a)
    assert GCNLayer(3, 2).to(a.dtype)(x, gcn_matrix(a)).shape == (5, 2)
    with pytest.raises(RuntimeError):
        GCNLayer(3, 2).to(a.dtype)(x[:4], gcn_matrix(a))


def test_messages_are_a_function_of_the_node_and_of_a_sum_over_its_neighbors():
    """message-passing: h_m = phi(x_m, sum of psi(x_n) over neighbors); a maximum ignores their order as well."""
    torch.manual_seed(0)
    a, x = random_graph(8, 1), torch.randn(8, 3).double()
    layer = GINLayer(3, 5).double()
    layer.eps.data.fill_(0.3)
    found = layer(x, a).detach()
    for m in range(8):
        near = [x[n] for n in range(8) if a[m, n]]
        for neighbors in (near, near[::-1]):
            by_hand = layer.mlp(1.3 * x[m] + sum(neighbors, torch.zeros(3).double()))
            torch.testing.assert_close(found[m], by_hand.detach())
    order = torch.randperm(8)
    torch.testing.assert_close(layer(x[order], a[order][:, order]).detach(), found[order])


def test_rows_of_the_coupling_matrix_sum_to_one_on_regular_graphs_alone():
    """gcn-coupling-matrix: M = D^(-1/2) (A + I) D^(-1/2) is symmetric; its rows sum to 1 if all degrees are equal."""
    ring, star = random_graph(9, 0, 0.0), torch.zeros(6, 6).double()
    star[0, 1:] = star[1:, 0] = 1
    for a, regular in ((ring, True), (torch.ones(5, 5).double() - torch.eye(5), True), (star, False)):
        m, degree = gcn_matrix(a), a.sum(1) + 1
        by_hand = (a + torch.eye(len(a))) / (degree[:, None] * degree) ** 0.5
        torch.testing.assert_close(m, by_hand, rtol=0, atol=1e-12)
        torch.testing.assert_close(m, m.T, rtol=0, atol=1e-15)
        assert bool(torch.allclose(m.sum(1), torch.ones(len(a)).double())) == regular


def test_eigenvalues_of_two_hundred_coupling_matrices():
    """gcn-norm-bound: largest eigenvalue 1 to 1e-10, all above -1, for 200 random graphs; from edge lists too."""
    for seed in range(200):
        a = random_graph(10, seed)
        values = torch.linalg.eigvalsh(gcn_matrix(a))
        assert abs(float(values[-1]) - 1) < 1e-10 and float(values[0]) > -1 + 1e-3
        if seed < 5:
            assert propagation_norm(a.nonzero().T) == pytest.approx(1.0, abs=1e-10)
    pair = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()  # without the loops of A + I the least eigenvalue is -1
    assert float(torch.linalg.eigvalsh(pair)[0]) == -1


def test_features_alone_name_at_most_65_percent_of_the_communities():
    """gcn-layer: mean accuracy >= 0.9 with the graph from 10 % of the labels, <= 0.65 with the identity in place of M."""
    found = np.mean([gcn_layer.shares(0.4, 0.02, 100, 100, seed) for seed in range(4)], axis=0)
    assert found[0] >= 0.9 and 1 - found[1] <= 0.65


class Path(nn.Module):
    """Graph convolutions with tanh, one after the other."""

    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList(GCNLayer(4, 4) for _ in range(depth))

    def forward(self, x, matrix):
        for layer in self.layers:
            x = torch.tanh(layer(x, matrix))
        return x


def test_the_ends_of_a_path_meet_after_one_layer_less_than_it_has_nodes():
    """gcn-depth-diameter: dh_0 / dx_(n - 1) = 0 exactly for k < n - 1 layers, and not for k = n - 1."""
    n = 6
    matrix = gcn_matrix(torch.diag(torch.ones(n - 1), 1).double() + torch.diag(torch.ones(n - 1), -1).double())
    torch.manual_seed(0)
    x = torch.randn(n, 4).double()
    for depth in range(1, n + 1):
        reach = node_influence(Path(depth).double(), x, matrix).matrix[0, n - 1]
        assert (float(reach) == 0) == (depth < n - 1)


def test_attention_weights_are_the_softmax_of_one_vector_times_both_ends():
    """graph-attention-network: q_ij = softmax_j(rho(u.[V x_i, V x_j])) over the neighbors, by loops."""
    torch.manual_seed(0)
    layer, x, a = GATLayer(3, 4).double(), torch.randn(7, 3).double(), random_graph(7, 2) + torch.eye(7)
    u = torch.cat([layer.own.weight[0], layer.other.weight[0]])
    found = layer.attention(x, a).detach()
    for i in range(7):
        near = [j for j in range(7) if a[i, j] > 0]
        scores = torch.stack([u @ torch.cat([layer.value(x[i]), layer.value(x[j])]) for j in near])
        weights = nn.functional.leaky_relu(scores, 0.2).exp()
        torch.testing.assert_close(found[i, near], (weights / weights.sum()).detach())


def test_laplacians_in_three_dimensions_are_six_times_the_excess_of_the_mean():
    """laplacian-operator: (mean over |y - x| = h - f) 2 d / h^2 for d = 3, with an error of order h^2."""
    s = 5**-0.5
    q = np.array([[s * a, s * b, 0] for a in (1, -1) for b in (2, -2)])
    points = np.concatenate([np.roll(q, k, 1) for k in range(3)])  # an icosahedron: exact to degree five
    center, f = np.array([0.3, -0.2, 0.5]), lambda p: np.exp(p[:, 0]) * np.sin(2 * p[:, 1]) + p[:, 2] ** 4
    exact = (1 - 4) * np.exp(0.3) * np.sin(-0.4) + 12 * 0.5**2
    errors = []
    for h in (0.05, 0.1, 0.2):
        mean = f(center + h * points).mean()
        errors.append(abs((mean - f(center[None])[0]) * 6 / h**2 - exact))
    assert (
        np.polyfit(np.log([0.05, 0.1, 0.2]), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.1) and errors[0] < 0.02
    )


def test_products_of_two_spectra_on_a_ring_are_circular_convolutions():
    """graph-convolution-spectral: U ((U^T x) (U^T y)) is the circular convolution of even x and y, up to sqrt(n) or sqrt(n / 2)."""
    n, rng = 9, np.random.default_rng(0)
    t = np.arange(n)
    waves = [np.ones(n) / n**0.5]
    for k in range(1, n // 2 + 1):
        waves += [f(2 * np.pi * k * t / n) * (2 / n) ** 0.5 for f in (np.cos, np.sin)]
    u = np.stack(waves, 1)
    laplacian = 2 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), -1, 0)
    frequencies = np.diag(u.T @ laplacian @ u)
    np.testing.assert_allclose(u @ np.diag(frequencies) @ u.T, laplacian, atol=1e-12)
    found = np.asarray(graph_spectrum(torch.from_numpy(2 * np.eye(n) - laplacian)).laplacian)
    np.testing.assert_allclose(np.sort(found), np.sort(frequencies), atol=1e-10)
    even = rng.normal(size=n)
    even = even + np.roll(even[::-1], 1)
    signal = rng.normal(size=n)
    signal = signal + np.roll(signal[::-1], 1)  # even as well: its sine parts are zero
    by_sum = np.array([sum(signal[v] * even[(w - v) % n] for v in range(n)) for w in range(n)])
    product = u @ ((u.T @ signal) * (u.T @ even))
    gain = (u.T @ by_sum)[[0, 1, 3, 5, 7]] / (u.T @ product)[[0, 1, 3, 5, 7]]
    np.testing.assert_allclose(gain, [n**0.5] + [(n / 2) ** 0.5] * 4, rtol=1e-9)


def test_points_of_any_order_reach_the_same_classes():
    """pointnet: classes from the 1024 global features alone: the output is rho of their maximum, in any order."""
    torch.manual_seed(0)
    net, x = PointNet(outputs=4).double(), torch.randn(2, 20, 3).double()
    whole = net.features(x).amax(1)
    assert whole.shape == (2, 1024)
    torch.testing.assert_close(net(x), net.rho(whole))
    torch.testing.assert_close(net(x[:, torch.randperm(20)]), net(x))


def tridiagonal(a):
    """Returns a tridiagonal matrix with the eigenvalues of a, by reflections, and the multiplications that this takes."""
    a, count, n = a.copy(), 0, len(a)
    for k in range(n - 2):
        v = a[k + 1 :, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        size = v @ v
        if size > 1e-30:
            for part in (a[k + 1 :, :], a[:, k + 1 :].T):
                part -= np.outer(v, 2 / size * (v @ part))
                count += 2 * part.size
    return a, count


def test_an_eigendecomposition_takes_operations_in_proportion_to_the_cube_of_the_nodes():
    """graph-convolution-spectral: multiplications of the reduction to three diagonals of L: slope 3 in the number of nodes."""
    sizes, counts = (16, 32, 64, 128), []
    for n in sizes:
        a = random_graph(n, 0).numpy()
        laplacian = np.diag(a.sum(1)) - a
        made, count = tridiagonal(laplacian)
        if n <= 32:
            np.testing.assert_allclose(np.linalg.eigvalsh(made), np.linalg.eigvalsh(laplacian), atol=1e-9)
            assert np.abs(np.triu(made, 2)).max() < 1e-9
        counts.append(count)
    assert np.polyfit(np.log(sizes), np.log(counts), 1)[0] == pytest.approx(3.0, abs=0.1)


def turned_clouds(count, seed):
    """Returns round, long and flat clouds of points in random directions, with their classes."""
    draw = torch.Generator().manual_seed(seed)
    kind = torch.randint(3, (count,), generator=draw)
    shape = torch.tensor([[1.0, 1.0, 1.0], [2.0, 0.6, 0.6], [1.5, 1.5, 0.3]])[kind]
    x = torch.randn(count, 24, 3, generator=draw) * shape[:, None]
    return x @ torch.linalg.qr(torch.randn(count, 3, 3, generator=draw))[0], kind


@pytest.mark.full
def test_learned_alignments_gain_five_points_on_turned_clouds():
    """pointnet-tnet: accuracy on clouds in random directions is >= 5 points higher with T-nets than with identities."""
    accuracies, (test, truth) = [], turned_clouds(600, 99)
    for aligned in (True, False):
        for seed in range(2):
            torch.manual_seed(seed)
            net, (x, y) = PointNet(outputs=3, local=16, features=64), turned_clouds(600, seed)
            for part in (net.align, net.align_local):
                part.requires_grad_(aligned)  # they start at the identity
            optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 3e-3)
            for _ in range(250):
                batch = torch.randint(600, (40,))
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
                optimizer.step()
            with torch.no_grad():
                accuracies.append(float((net(test).argmax(1) == truth).double().mean()))
    assert np.mean(accuracies[:2]) >= np.mean(accuracies[2:]) + 0.05, accuracies


@pytest.mark.full
def test_errors_of_summed_features_saturate_from_five_of_them_on():
    """deep-sets-latent-dimension: maxima of 10 numbers with d = 1, 5, 10, 20: error(1) >= 3 error(d), the others within 2."""
    errors = []
    for d in (1, 5, 10, 20):
        torch.manual_seed(0)
        errors.append(fit_sets(DeepSets(1, 1, width=64, latent=d), lambda x: x.amax(1), 10, 3000))
    assert errors[0] >= 3 * max(errors[1:]) and max(errors[1:]) <= 2 * min(errors[1:]), errors
