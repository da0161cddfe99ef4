"""Clauses of the scope on what networks contain, each with an oracle of its own; the ledger names these tests."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from torch import nn

import gnomon
from gnomon.attribution import bottleneck_curve, invert_layer, layer_probe, top_activating, visualize_unit
from gnomon.attribution.cues import analogy_score, cue_conflict
from gnomon.attribution.fourier import fourier_mask, keep_frequencies
from gnomon.attribution.trees import surrogate_tree
from gnomon.data import digits


def test_examples_that_activate_a_direction_most_are_found_by_their_products():
    """activation-maximising-examples: argmax_x <v, h(x)> for a unit-norm direction v, not for its opposite."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).double(), torch.randn(40, 4).double()
    v = nn.functional.normalize(torch.randn(6), dim=0).double()
    products = torch.tanh(x @ net[0].weight.T + net[0].bias).detach() @ v
    found = top_activating(net, "1", v, (x, torch.zeros(40).long()), k=4)
    assert found.index.tolist() == products.argsort(descending=True)[:4].tolist()
    assert top_activating(net, "1", -v, (x, torch.zeros(40).long()), k=1).index[0] == products.argmin()


def test_the_optimized_input_activates_a_unit_more_than_the_best_image_of_its_length():
    """feature-visualisation: activation at x* >= that of every digit scaled to the length of x*; x* resembles the weights."""
    split = digits(200, 0, seed=0)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 5))
    seen = visualize_unit(net, "1", 2, shape=(1, 8, 8), iterations=300, l2_weight=0.5)
    images = split.x.flatten(1)
    scaled = images / images.norm(dim=1, keepdim=True) * seen.image.norm()
    assert seen.activation > float(net(scaled.reshape(-1, 1, 8, 8))[:, 2].max().detach())
    cosine = nn.functional.cosine_similarity(seen.image.flatten(), net[1].weight[2].detach(), dim=0)
    assert float(cosine) > 0.99


def test_the_mask_is_a_minimum_of_its_objective():
    """fourier-mask-attribution: mean e^([L(f(F^-1 M F x), y) - L(f(x), y)]^2) + lam mean M^p is lower at M than nearby."""
    torch.manual_seed(0)
    k = torch.arange(8.0)
    wave = torch.cos(2 * torch.pi * (2 * k[:, None] + k) / 8)
    y = torch.randint(2, (200,))
    x = 0.3 * torch.randn(200, 1, 8, 8) + (2.0 * y[:, None, None, None] - 1) * wave
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    net[1].weight.data = torch.stack([-wave.flatten(), wave.flatten()]) / 4

    def objective(mask, lam=2.0, p=0.5):
        losses = [
            nn.functional.cross_entropy(net(z), y, reduction="none").detach() for z in (keep_frequencies(x, mask), x)
        ]
        return float((losses[0] - losses[1]).square().exp().mean() + lam * mask.pow(p).mean())

    found = fourier_mask(net, (x, y), sparsity_weight=2.0, sparsity_power=0.5, epochs=60)
    mask = found.mask.float()
    assert found.frequencies() == ((2, 1),) and found.agreement == 1.0 and found.kept == pytest.approx(2 / 64)
    for i, j in ((0, 0), (1, 2), (2, 1), (3, 3)):
        other = mask.clone()
        other[i, j] = other[-i % 8, -j % 8] = 1 - mask[i, j]
        assert objective(other) > objective(mask)


def test_a_forest_and_a_network_beat_a_small_tree_that_can_be_read():
    """performance-interpretability-tradeoff: breast cancer: depth-2 tree < forest and network; a tree of 3 rules agrees."""
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(0)) / x.std(0)
    scores = {"tree": [], "forest": [], "network": []}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(x))
        train, test = order[:300], order[300:]
        tree, forest = DecisionTreeClassifier(max_depth=2, random_state=0), RandomForestClassifier(15, random_state=0)
        for name, model in (("tree", tree), ("forest", forest)):
            scores[name].append(model.fit(x[train], y[train]).score(x[test], y[test]))
        torch.manual_seed(seed)
        net, rows = nn.Sequential(nn.Linear(30, 20), nn.Tanh(), nn.Linear(20, 2)), torch.tensor(x).float()
        optimizer = torch.optim.Adam(net.parameters(), 0.01, weight_decay=1e-3)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(rows[train]), torch.tensor(y[train])).backward()
            optimizer.step()
        scores["network"].append(float((net(rows[test]).argmax(1) == torch.tensor(y[test])).double().mean()))
    assert np.mean(scores["tree"]) + 0.01 < min(np.mean(scores["forest"]), np.mean(scores["network"]))
    assert tree.get_n_leaves() <= 4 < sum(one.get_n_leaves() for one in forest.estimators_)


def test_fidelity_of_a_surrogate_grows_with_the_depth_of_its_trees():
    """performance-interpretability-tradeoff, decision-tree-interpretability: P(tree(x) = network(x)) by depth, by hand."""
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2)), torch.randn(900, 3)
    found = surrogate_tree(net, x, depths=(1, 3, 7))
    assert found.fidelity[0] < found.fidelity[1] < found.fidelity[2] and found.fidelity[2] >= 0.85
    fresh = torch.randn(4000, 3, generator=torch.Generator().manual_seed(5))
    by_hand = float((torch.from_numpy(found.tree.predict(fresh.numpy())) == net(fresh).argmax(1)).double().mean())
    assert found.fidelity[2] == pytest.approx(by_hand, abs=0.05)


def test_words_of_a_drawn_corpus_solve_analogies_by_their_mutual_information():
    """word-vector-analogies: SVD of the pointwise mutual information of counted pairs: accuracy >= 0.9; counts alone less."""
    rng, values, contexts = np.random.default_rng(0), 4, 60
    rows, columns = (1.2 * rng.normal(size=(values, contexts)) for _ in range(2))
    law = np.exp(rows[:, None] + columns[None]).reshape(values * values, contexts)
    law = law / law.sum(1, keepdims=True)
    counts = np.stack([rng.multinomial(25_000, row) for row in law]).astype(float)
    joint = (counts + 0.5) / (counts + 0.5).sum()
    pmi = np.log(joint / joint.sum(1, keepdims=True) / joint.sum(0))
    found = {}
    for name, table in (("pmi", pmi), ("random", rng.normal(size=pmi.shape))):
        left, size, _ = np.linalg.svd(table, full_matrices=False)
        vectors = torch.from_numpy(left[:, :6] * size[:6])
        pairs = [p for p in np.ndindex(values, values, values, values) if p[0] != p[2] and p[1] != p[3]]
        quadruples = [(i * values + j, i * values + m, k * values + j, k * values + m) for i, j, k, m in pairs]
        found[name] = analogy_score(vectors, quadruples)
    assert found["pmi"] >= 0.9 > 0.5 > found["random"]


def test_the_bottleneck_solves_its_equations_and_starts_at_the_gaussian_threshold():
    """information-bottleneck: residual <= 1e-8 away from the transition; beta_c = 1 / (1 - lambda) = 1 / rho^2 to 5 %."""
    p = np.array([[0.35, 0.15], [0.1, 0.4]])
    second = np.linalg.svd(p / np.sqrt(np.outer(p.sum(1), p.sum(0))))[1][1] ** 2
    assert bottleneck_curve(p, [1.5 / second, 3 / second, 10 / second]).residual <= 1e-8
    rho, grid = 0.7, np.linspace(-3, 3, 15)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    law = np.exp(-(x**2 - 2 * rho * x * y + y**2) / (2 * (1 - rho**2)))
    threshold = 1 / rho**2  # lambda = 1 - rho^2 is the eigenvalue of S_(x|y) S_x^-1
    s = np.linalg.svd(law / np.sqrt(np.outer(law.sum(1), law.sum(0))))[1]
    assert (s[0] / s[1]) ** 2 == pytest.approx(threshold, rel=0.05)
    curve = bottleneck_curve(law, [0.95 * threshold, 1.15 * threshold], iterations=3000)
    assert curve.about_input[0] < 1e-3 < 0.02 < curve.about_input[1]


@pytest.fixture(scope="module")
def trained():
    """A convolutional network of four layers that reads digits, the same network untrained, and the digits."""
    split, nets = digits(800, 500, seed=0), []
    for steps in (300, 0):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(),
                            nn.MaxPool2d(2), nn.Conv2d(16, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 32, 3, padding=1),
                            nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))  # fmt: skip
        nets.append(net if steps == 0 else gnomon.train(
            net, (split.x, split.y), steps=steps, batch=100, optimizer=gnomon.training.Adam(5e-3)).model)  # fmt: skip
    return (*nets, split)


@pytest.mark.full
def test_linear_probes_of_a_trained_network_rise_from_layer_to_layer_and_those_of_a_random_one_less(trained):
    """progressive-linear-separability: linear probe of averaged features non-decreasing to 1 point; not so if untrained."""
    net, fresh, split = trained
    rows = []
    for one in (net, fresh):
        found = layer_probe(one, (split.x_test, split.y_test), layers=("1", "3", "6", "8")).layers[1:]
        rows.append(([p.linear for p in found], [p.nearest for p in found], [p.fisher for p in found]))
    linear, nearest, fisher = rows[0]
    assert all(b >= a - 0.01 for a, b in zip(linear, linear[1:], strict=False)), rows
    assert all(b >= a - 0.01 for a, b in zip(nearest, nearest[1:], strict=False)), rows
    assert all(b < a for a, b in zip(fisher, fisher[1:], strict=False)), rows
    assert linear[-1] > rows[1][0][-1] + 0.05 and min(rows[1][2]) > fisher[-1]


@pytest.mark.full
def test_learned_linear_decoders_reconstruct_worse_from_deeper_layers(trained):
    """representation-inversion: the error of a decoder learned by least squares rises with depth; so does that of inversion."""
    net, _, split = trained
    x, test = split.x.flatten(1), split.x_test.flatten(1)
    errors = []
    for depth in (2, 5, 7, 10):
        h, g = (net[:depth](z).flatten(1).detach() for z in (split.x, split.x_test))
        h, g = (torch.cat([part, torch.ones(len(part), 1)], 1) for part in (h, g))
        decoder = torch.linalg.solve(h.T @ h + 0.1 * torch.eye(h.shape[1]), h.T @ x)
        errors.append(float((g @ decoder - test).square().mean()))
    assert all(b > a for a, b in zip(errors, errors[1:], strict=False)), errors
    psnr = [invert_layer(net, str(k), split.x_test[:4], iterations=200).psnr for k in (1, 6, 8)]
    assert float(np.mean(psnr[0])) > float(np.mean(psnr[2]))


@pytest.mark.full
def test_free_textures_lower_the_texture_bias_of_one_architecture_by_thirty_points():
    """texture-bias: fields of 9 x 9 trained on agreeing cues, then on free textures: texture decisions fall by >= 0.3."""
    from tests.atlas.test_clauses_graph_set_layers import objects

    generator, shares = torch.Generator().manual_seed(0), []
    for agree in ("agree", "free"):
        x, shape, _ = objects(600, generator, agree)
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 16, 9), nn.ReLU(), nn.Conv2d(16, 16, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                            nn.Flatten(), nn.Linear(16, 2))  # fmt: skip
        net = gnomon.train(net, (x, shape), steps=200, batch=100, optimizer=gnomon.training.Adam(1e-2)).model
        x, shape, texture = objects(300, generator, "conflict")
        shares.append(1 - cue_conflict(net, x, shape, texture).shape_bias)
    assert shares[1] <= shares[0] - 0.3
