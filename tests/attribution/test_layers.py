import numpy as np
import pytest
import torch
from sklearn.feature_selection import mutual_info_regression
from torch import nn

from gnomon import data
from gnomon.attribution import (
    bottleneck_curve,
    compare_unit_purity,
    information_plane,
    invert_layer,
    layer_probe,
    layer_similarity,
    mutual_information,
    representation_report,
    top_activating,
    visualize_unit,
)
from gnomon.attribution.cues import analogy_score, cue_conflict, patch_shuffle_accuracy
from gnomon.attribution.information import discrete_information
from gnomon.attribution.layers import layer_activations
from gnomon.attribution.orbits import orbit_curvature
from gnomon.attribution.probes import intrinsic_dimension
from gnomon.attribution.similarity import cka, procrustes_distance
from gnomon.attribution.trees import surrogate_tree
from gnomon.core import InputError

SPLIT = data.digits(400, 200)


def test_a_planted_template_is_what_excites_its_unit():
    """activation-maximising-examples: argmax_x <v, h(x)> over the examples, v = e_i for a unit."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 8), nn.Flatten())
    template = SPLIT.x[0] - SPLIT.x[0].mean()
    with torch.no_grad():
        net[0].weight[1] = template
    seen = visualize_unit(net, "1", 1, shape=(1, 8, 8))
    assert np.corrcoef(seen.image.flatten(), template.flatten())[0, 1] > 0.9 and seen.activation > seen.start
    top = top_activating(net, "1", 1, (SPLIT.x, SPLIT.y), k=5)
    assert "nan" not in top_activating(net, "1", 1, SPLIT.x, k=5).verdict  # without classes
    assert torch.equal(top.index, net(SPLIT.x)[:, 1].topk(5).indices)
    with pytest.raises(InputError, match="the layer has 2 units"):
        visualize_unit(net, "1", 5, shape=(1, 8, 8))


def test_purity_of_units_and_directions_is_counted():
    """unit-direction-semantics: purity = share of the commonest class among the top examples, units and directions."""
    x = torch.cat([torch.eye(4)[[i]].repeat(20, 1) for i in range(4)]) + 0.01 * torch.randn(80, 4)
    y = torch.arange(4).repeat_interleave(20)
    found = compare_unit_purity(nn.Sequential(nn.Identity()), "0", (x, y))
    assert found.units == 1.0 and found.random > 0.9 and found.chance < 0.6


def test_inversion_returns_what_was_kept_and_not_what_was_lost():
    x = SPLIT.x[:4]
    kept = invert_layer(nn.Sequential(nn.Flatten(), nn.Linear(64, 64)), "1", x, iterations=300)
    lost = invert_layer(nn.Sequential(nn.AvgPool2d(4), nn.Flatten()), "1", x, iterations=100)
    assert lost.error < 0.01 and lost.psnr < 20 and kept.psnr > lost.psnr + 5


def test_probes_by_hand():
    """Linear and nearest-neighbor probes, the Fisher ratio, and the dimension of a plane."""
    torch.manual_seed(0)
    y = torch.arange(200) % 2
    x = torch.randn(200, 5) + 6.0 * y[:, None] * torch.eye(5)[0]
    probes = layer_probe(nn.Sequential(nn.Linear(5, 3)), (x, y)).layers
    assert probes[0].linear > 0.97 and probes[0].nearest > 0.97
    rows = x.double()
    means = torch.stack([rows[y == c].mean(0) for c in (0, 1)])
    within, between = (rows - means[y]).square().sum(), 100 * (means - rows.mean(0)).square().sum()
    assert probes[0].fisher == pytest.approx(float(within / between), rel=1e-6)
    flat = torch.rand(600, 2, dtype=torch.float64) @ torch.randn(2, 6, dtype=torch.float64)
    assert abs(intrinsic_dimension(flat) - 2) < 0.3


def test_similarity_against_the_definition_with_gram_matrices():
    a, b = torch.randn(30, 4, dtype=torch.float64), torch.randn(30, 6, dtype=torch.float64)
    center = torch.eye(30, dtype=torch.float64) - 1 / 30
    k, m = (center @ t @ t.T @ center for t in (a, b))
    assert cka(a, b) == pytest.approx(float((k * m).sum() / (k.norm() * m.norm())), rel=1e-10)
    turn = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64))[0]
    assert cka(a, 3 * a @ turn) == pytest.approx(1) and procrustes_distance(a, 3 * a @ turn) == pytest.approx(
        0, abs=1e-10
    )
    assert procrustes_distance(a, b) > 0.3
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    assert torch.allclose(layer_similarity(net, net, a.float()).cka.diagonal(), torch.ones(2), atol=1e-5)
    with pytest.raises(InputError, match="one row per example"):
        cka(a, b[:5])


def test_curvature_of_circles_and_lines():
    """manifold-flattening: curvature = mean angle between successive steps: 1/11 for 12 points on an arc of 1."""
    s = torch.linspace(0, 1, 12)
    circle = torch.stack([s.cos(), s.sin()], 1)
    line = torch.stack([s, 2 * s], 1)
    found = orbit_curvature(nn.Sequential(nn.Identity()), torch.stack([circle, circle]))
    assert found.curvature[0] == pytest.approx(1 / 11, abs=1e-3)
    assert orbit_curvature(nn.Sequential(nn.Identity()), line[None]).curvature[0] < 1e-2
    with pytest.raises(InputError, match="no axis of steps"):
        orbit_curvature(nn.Identity(), line)


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_information_of_gaussians(rho):
    z = np.random.default_rng(0).standard_normal((2, 4000))
    a, b = z[0], rho * z[0] + np.sqrt(1 - rho**2) * z[1]
    exact = -0.5 * np.log(1 - rho**2)
    assert mutual_information(a, b) == pytest.approx(exact, abs=0.05)
    assert mutual_information(a, b) == pytest.approx(mutual_info_regression(a[:, None], b, random_state=0)[0], abs=0.02)


def test_data_processing_is_exact_for_discrete_channels():
    draw = np.random.default_rng(0)
    p = draw.dirichlet(np.ones(12)).reshape(4, 3)
    for _ in range(5):
        channel = draw.dirichlet(np.ones(3), 3)
        assert discrete_information(p @ channel) <= discrete_information(p) + 1e-12
    with pytest.raises(InputError, match="the table has negative"):
        discrete_information([[-1.0, 2.0]])


def test_the_bottleneck_begins_at_the_second_eigenvalue_and_is_concave():
    p = np.array([[0.35, 0.15], [0.1, 0.4]])
    px, py = p.sum(1), p.sum(0)
    second = np.linalg.svd(p / np.sqrt(np.outer(px, py)))[1][1] ** 2
    betas = np.geomspace(0.9 / second, 40, 16)
    curve = bottleneck_curve(p, betas)
    assert 0.95 / second < curve.critical < 1.35 / second and curve.residual < 1e-6
    a, b = np.array(curve.about_input), np.array(curve.about_target)
    slopes = np.diff(b)[np.diff(a) > 1e-3] / np.diff(a)[np.diff(a) > 1e-3]
    assert (np.diff(slopes) < 1e-6).all() and b.max() <= discrete_information(p) + 1e-9


def test_the_information_plane_says_that_bins_decide():
    net = nn.Sequential(nn.Linear(64, 8), nn.Tanh(), nn.Linear(8, 10))
    fine, coarse = (information_plane(net, (SPLIT.x.flatten(1), SPLIT.y), bins=b) for b in (200, 2))
    assert (
        fine.about_input[0] == pytest.approx(fine.ceiling, rel=0.02) and coarse.about_input[-1] < fine.about_input[-1]
    )
    assert "as large as it can be" in fine.verdict


def test_a_tree_stands_in_for_a_network():
    net = nn.Linear(2, 2)
    found = surrogate_tree(net, torch.randn(600, 2), depths=(1, 6))
    assert found.fidelity[1] > 0.9 and found.fidelity[1] >= found.fidelity[0] and "feature" in found.rules


def test_cues_patches_and_analogies():
    """texture-bias: bias = shape decisions / (shape + texture decisions)."""
    images = torch.eye(4).reshape(4, 1, 2, 2)
    found = cue_conflict(nn.Flatten(), images, [0, 1, 0, 1], [1, 2, 2, 3])
    assert found.shape_bias == 0.5 and found.neither == 0
    with pytest.raises(InputError, match="of the same class"):
        cue_conflict(nn.Flatten(), images, [0, 1, 0, 1], [0, 2, 2, 3])
    template = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    optimizer = torch.optim.LBFGS(template.parameters(), max_iter=40)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(template(SPLIT.x), SPLIT.y)
        loss.backward()
        return loss

    optimizer.step(closure)
    assert patch_shuffle_accuracy(template, (SPLIT.x_test, SPLIT.y_test)).arrangement > 0.3
    with pytest.raises(InputError, match="do not tile"):
        patch_shuffle_accuracy(template, (SPLIT.x_test, SPLIT.y_test), patch=3)
    words = torch.tensor([[a, b, 1.0] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    assert analogy_score(words, [(0, 1, 2, 3), (0, 2, 1, 3)]) == 1.0
    with pytest.raises(InputError, match="row numbers that the embedding does not have"):
        analogy_score(words, [(0, 1, 2, 9)])


def test_layers_compose_and_representations_are_measured():
    """deep-network-composition: x_l = F_l(x_(l-1)); representation-desiderata: four numbers by hand."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    x, y = torch.randn(12, 3), torch.arange(12) % 2
    kept = layer_activations(net, x)
    assert list(kept) == ["0", "1", "2"]
    for before, after, part in ((x, "0", net[0]), (kept["0"], "1", net[1]), (kept["1"], "2", net[2])):
        torch.testing.assert_close(part(before), kept[after])
    told = representation_report(net, "1", (x, y), transformations=[lambda x: -x], iterations=5)
    h, g = net[:2](x).detach().double(), net[:2](-x).detach().double()
    assert told.invariance == pytest.approx(float((g - h).norm() / h.norm()))
    ratios = [float((h[i] - h[j]).norm() / (x[i] - x[j]).norm()) for i in range(12) for j in range(i)]
    assert told.stability == pytest.approx(max(ratios), rel=1e-5)
    within = sum(float((h[y == c] - h[y == c].mean(0)).square().sum()) for c in (0, 1))
    between = sum(6 * float((h[y == c].mean(0) - h.mean(0)).square().sum()) for c in (0, 1))
    assert told.separation == pytest.approx(between / within)


def test_the_bottleneck_of_a_table_with_zeros_is_finite():
    """Two inputs with one target each: I(X; Y) is log 2, all of which a code keeps at a large beta."""
    curve = bottleneck_curve(np.array([[0.5, 0.0], [0.0, 0.5]]), [1.5, 20.0])
    assert np.isfinite(curve.about_input).all() and np.isfinite(curve.about_target).all()
    assert max(curve.about_target) == pytest.approx(np.log(2), abs=1e-6)
