"""Every number that an instrument of attribution reports, computed again in numpy or by brute force."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from torch import nn

from gnomon.attribution import (
    compare_unit_purity,
    deletion_insertion,
    fourier_mask,
    grad_cam,
    gradient,
    information_plane,
    layer_probe,
    mutual_information,
    occlusion,
    representation_report,
    sanity_check,
    top_activating,
    visualize_unit,
)
from gnomon.attribution.cues import analogy_score, cue_conflict, patch_shuffle_accuracy
from gnomon.attribution.fourier import FourierMask, keep_frequencies
from gnomon.attribution.gradient import smooth_grad
from gnomon.attribution.information import discrete_information
from gnomon.attribution.maps import cam_overlap
from gnomon.attribution.orbits import orbit_curvature
from gnomon.attribution.probes import intrinsic_dimension, pool_positions
from gnomon.attribution.record import Attribution
from gnomon.attribution.sanity import Faithfulness, SanityCheck, rank_correlation
from gnomon.attribution.shortcut import FeatureReliance, Shortcuts, separation, shortcuts
from gnomon.attribution.similarity import procrustes_distance
from gnomon.attribution.trees import surrogate_tree


def normal(*shape):
    return torch.randn(*shape).double()


def test_occlusion_is_the_mean_fall_over_windows():
    net = nn.Sequential(nn.Flatten(), nn.Linear(20, 6), nn.Tanh(), nn.Linear(6, 2)).double()
    x = normal(2, 1, 4, 5)
    for window, stride in ((2, 1), (2, 2), (3, 2)):
        found = occlusion(net, x, 1, window=window, stride=stride, fill_value=0.5)
        total, seen = np.zeros((2, 4, 5)), np.zeros((4, 5))
        for top, left in product(*(range(0, max(n - window + stride, 1), stride) for n in (4, 5))):
            covered = x.clone()
            covered[:, :, top : top + window, left : left + window] = 0.5
            fall = (net(x) - net(covered)).detach()[:, 1].numpy()
            total[:, top : top + window, left : left + window] += fall[:, None, None]
            seen[top : top + window, left : left + window] += 1
        assert_allclose(found.values[:, 0], total / np.maximum(seen, 1), rtol=1e-9, atol=1e-12)


def test_grad_cam_weighs_maps_by_their_mean_slopes_and_overlap_is_a_cosine():
    nets = [nn.Sequential(nn.Conv2d(1, 3, 2), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2)).double() for _ in range(2)]
    x = torch.rand(2, 1, 3, 3).double()
    maps = []
    for net in nets:
        h = net[:2](x).detach()
        slope = net[3].weight.detach()[1].reshape(3, 2, 2)
        maps.append(np.maximum(np.einsum("k,nkhw->nhw", slope.numpy().mean((1, 2)), h.numpy()), 0))
        assert_allclose(grad_cam(net, x, 1).values, maps[-1], rtol=1e-9)
    big = [
        nn.functional.interpolate(torch.from_numpy(m)[:, None], size=(3, 3), mode="bilinear")[:, 0]
        .numpy()
        .reshape(2, 9)
        for m in maps
    ]
    wanted = [(a @ b) / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-300) for a, b in zip(*big, strict=True)]
    found = cam_overlap(*nets, x, 1)
    for value, exact, a, b in zip(found.tolist(), wanted, *big, strict=True):
        if a.any() and b.any():
            assert_allclose(value, exact, rtol=1e-6)


def test_paths_turn_by_their_angles_and_lie_in_planes_by_their_variance():
    orbits = normal(2, 5, 3)
    net = nn.Sequential(nn.Linear(3, 4)).double()
    found = orbit_curvature(net, orbits)
    assert found.layers == ("input", "0")
    for i, h in enumerate((orbits.numpy(), net(orbits).detach().numpy())):
        angles, shares = [], []
        for path in h:
            steps = np.diff(path, axis=0)
            steps /= np.linalg.norm(steps, axis=1, keepdims=True)
            angles += [np.arccos(a @ b) for a, b in zip(steps, steps[1:], strict=False)]
            values = np.sort(np.linalg.eigvalsh(np.cov(path.T)))[::-1]
            shares.append(values[:2].sum() / values.sum())
        assert_allclose([found.curvature[i], found.linearity[i]], [np.mean(angles), np.mean(shares)], rtol=1e-9)


def test_probes_of_a_layer_are_those_of_their_definitions():
    x, y = normal(24, 2), torch.arange(24) % 3
    x = x + 1.5 * y[:, None]
    probe = layer_probe(nn.Sequential(nn.Identity()), (x, y), layers=[]).layers[0]
    fit = np.zeros(24, dtype=bool)
    order = torch.randperm(24, generator=torch.Generator().manual_seed(0))[:12].numpy()
    fit[order] = True
    v, c = x.numpy(), y.numpy()
    means = np.stack([v[c == k].mean(0) for k in range(3)])
    within = ((v - means[c]) ** 2).sum()
    between = (np.bincount(c)[:, None] * (means - v.mean(0)) ** 2).sum()
    assert_allclose(probe.fisher, within / between, rtol=1e-9)
    apart = np.linalg.norm(v[:, None] - v[None], axis=2)
    own = (c[:, None] == c) & ~np.eye(24, dtype=bool)
    assert_allclose(probe.contraction, apart[own].mean() / apart[~np.eye(24, dtype=bool)].mean(), rtol=1e-9)
    near = np.sort(apart, axis=1)
    assert_allclose(probe.dimension, 23 / np.log(near[:, 2] / near[:, 1]).sum(), rtol=1e-6)
    assert_allclose(intrinsic_dimension(x), probe.dimension, rtol=1e-6)
    nearest = c[fit][apart[~fit][:, fit].argmin(1)]
    assert_allclose(probe.nearest, (nearest == c[~fit]).mean())
    h = (v - v[fit].mean(0)) / np.sqrt(((v[fit] - v[fit].mean(0)) ** 2).mean())
    rows = np.hstack([h, np.ones((24, 1))])
    solved = np.linalg.solve(rows[fit].T @ rows[fit] + 1e-3 * 12 * np.eye(3), rows[fit].T @ np.eye(3)[c[fit]])
    assert_allclose(probe.linear, ((rows[~fit] @ solved).argmax(1) == c[~fit]).mean())


def test_information_of_tables_neighbors_and_layers():
    table = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 5.0]])
    p = table / 12
    exact = sum(p[i, j] * np.log(p[i, j] / p[i].sum() / p[:, j].sum()) for i in range(2) for j in range(3) if p[i, j])
    assert_allclose(discrete_information(table), exact, rtol=1e-12)
    a, b = np.random.default_rng(0).standard_normal((2, 40))
    b = b + a
    u, v = ((t - t.mean()) / t.std() for t in (a, b))
    total = 0.0
    for i in range(40):
        far = np.maximum(abs(u - u[i]), abs(v - v[i]))
        reach = np.sort(far)[4]  # the fourth neighbor; the point itself is the first
        total += sum(_digamma((abs(t - t[i]) < reach - 1e-9).sum()) for t in (u, v))  # with the point itself: n + 1
    assert_allclose(mutual_information(a, b, neighbors=4), _digamma(4) + _digamma(40) - total / 40, atol=1e-6)
    x, y = torch.rand(50, 1).double(), torch.arange(50) % 2
    plane = information_plane(nn.Sequential(nn.Identity()), (x, y), bins=5)
    code = np.minimum(((x.numpy() - x.numpy().min()) / np.ptp(x.numpy()) * 5).astype(int), 4)[:, 0]
    share = np.bincount(code) / 50
    counts = np.zeros((5, 2))
    np.add.at(counts, (code, y.numpy()), 1)
    assert_allclose(plane.about_input[-1], -(share[share > 0] * np.log(share[share > 0])).sum(), rtol=1e-9)
    assert_allclose([plane.about_target[-1], plane.ceiling], [discrete_information(counts), np.log(50)], rtol=1e-9)


def _digamma(n):
    return -0.5772156649015329 + sum(1 / k for k in range(1, int(n)))


def test_procrustes_is_the_least_distance_over_rotations():
    a, b = normal(9, 2), normal(9, 2)
    u, v = ((t - t.mean(0)).numpy() for t in (a, b))
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    best = np.inf
    for angle in np.linspace(0, 2 * np.pi, 20001):
        for flip in (1, -1):
            turn = np.array([[np.cos(angle), -flip * np.sin(angle)], [np.sin(angle), flip * np.cos(angle)]])
            scale = max((u * (v @ turn)).sum(), 0)  # the best size of the turned points
            best = min(best, 1 - scale**2)
    assert_allclose(procrustes_distance(a, b), best, atol=1e-6)


def test_a_report_on_a_representation_has_its_four_numbers():
    net = nn.Sequential(nn.Flatten(), nn.Linear(4, 3)).double()
    x, y = normal(10, 1, 2, 2), torch.arange(10) % 2
    found = representation_report(
        net, "1", (x, y), transformations=[lambda z: z.flip(3), lambda z: z * 1.1], iterations=1
    )
    h = net(x).detach().numpy()
    changes = [np.linalg.norm(net(z).detach().numpy() - h) / np.linalg.norm(h) for z in (x.flip(3), x * 1.1)]
    assert_allclose(found.invariance, max(changes), rtol=1e-6)
    flat = x.flatten(1).numpy()
    ratios = [np.linalg.norm(h[i] - h[j]) / np.linalg.norm(flat[i] - flat[j]) for i in range(10) for j in range(i)]
    assert_allclose(found.stability, max(ratios), rtol=1e-9)
    c = y.numpy()
    within = sum(((h[c == k] - h[c == k].mean(0)) ** 2).sum() for k in (0, 1))
    assert_allclose(found.separation, ((h - h.mean(0)) ** 2).sum() / within - 1, rtol=1e-9)


def test_cues_patches_and_analogies_are_counted():
    net = nn.Flatten()
    x = torch.eye(4).reshape(4, 1, 2, 2)
    found = cue_conflict(net, x, [0, 2, 2, 0], [1, 1, 0, 1])
    assert (found.shape, found.texture, found.neither) == (2, 1, 1) and found.shape_bias == 2 / 3
    images, y = torch.rand(6, 1, 4, 4), torch.arange(6) % 2
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    told = patch_shuffle_accuracy(net, (images, y), patch=2, seed=3)
    order = torch.rand(6, 4, generator=torch.Generator().manual_seed(3)).argsort(1)
    mixed = torch.zeros_like(images)
    for i in range(6):
        for place in range(4):
            (r, s), (a, b) = divmod(int(order[i, place]), 2), divmod(place, 2)
            mixed[i, :, 2 * a : 2 * a + 2, 2 * b : 2 * b + 2] = images[i, :, 2 * r : 2 * r + 2, 2 * s : 2 * s + 2]
    right = [float((net(z).argmax(1) == y).double().mean()) for z in (images, mixed)]
    assert_allclose([told.accuracy, told.shuffled, told.arrangement], [*right, right[0] - right[1]], atol=1e-12)
    rows = torch.tensor([[1.0, 0.1], [2.0, 3.0], [-1.0, 0.4], [-0.3, 5.0], [0.2, -1.0], [1.0, 1.0]])
    quads, hits = [(0, 1, 2, 3), (0, 1, 2, 5), (3, 4, 5, 0), (1, 0, 3, 5)], 0
    unit = rows / rows.norm(dim=1, keepdim=True)
    for a, b, c, d in quads:
        wanted = unit[b] - unit[a] + unit[c]
        hits += max((float(wanted @ unit[i]), i) for i in range(6) if i not in (a, b, c))[1] == d
    assert analogy_score(rows, quads) == hits / 4


def test_ranks_and_curves_of_faithfulness():
    a, b = normal(3, 7), normal(3, 7)
    wanted = np.mean([stats.spearmanr(abs(p), abs(q)).statistic for p, q in zip(a.numpy(), b.numpy(), strict=True)])
    assert_allclose(rank_correlation(a, b), wanted, rtol=1e-9)
    net, x = nn.Linear(5, 2).double(), normal(3, 5)
    own = gradient(net, x, 0)
    found = sanity_check(gradient, net, x, 0, draws=2, random_labels=nn.Linear(5, 2).double())
    assert -1 <= found.weights <= 1 and found.labels is not None and own.values.shape == x.shape
    assert [SanityCheck("m", w, s).depends_on_model for w, s in ((0.69, None), (0.71, None), (0.1, 0.71))] == [
        True,
        False,
        False,
    ]
    assert Faithfulness((0.0, 0.5, 1.0), (3.0, 1.0, 0.0), (0.0, 0.0, 3.0), (3.0, 2.0, 0.5)).gain == 0.5
    values = normal(3, 5)
    told = deletion_insertion(
        net, x, Attribution(values, torch.zeros(3, dtype=torch.long), "m"), points=6, fill_value=0.3
    )
    assert_allclose(told.shares, [0, 0.2, 0.4, 0.6, 0.8, 1], atol=1e-6)
    order = np.argsort(-values.numpy(), axis=1)
    for k in range(6):
        less, more = x.clone(), torch.full_like(x, 0.3)
        for i in range(3):
            less[i, order[i, :k]] = 0.3
            more[i, order[i, :k]] = x[i, order[i, :k]]
        ends = [float(net(z)[:, 0].mean().detach()) for z in (less, more)]
        assert_allclose([told.deletion[k], told.insertion[k]], ends, rtol=1e-6)
    assert_allclose([told.random[0], told.random[-1]], [told.deletion[0], told.deletion[-1]], rtol=1e-9)


def test_the_picture_of_a_linear_unit_is_its_weights_over_the_penalty():
    net = nn.Sequential(nn.Flatten(), nn.Linear(6, 2, bias=False)).double()
    w = net[1].weight.detach().numpy()[1]
    found = visualize_unit(net, "1", 1, shape=(1, 2, 3), iterations=400, l2_weight=0.4, lr=0.05)
    assert_allclose(found.image.flatten(), w / 0.8, atol=1e-3)
    assert_allclose(found.activation, w @ w / 0.8, rtol=1e-2)
    smooth = visualize_unit(
        net, "1", 1, shape=(1, 2, 3), iterations=600, l2_weight=0.4, total_variation_weight=2.0, lr=0.05
    )
    rows = np.eye(6).reshape(6, 2, 3)
    matrix = 0.8 * np.eye(6)
    for axis in (1, 2):
        steps = np.diff(rows, axis=axis).reshape(6, -1)
        matrix += 2 * 2.0 * steps @ steps.T / steps.shape[1]
    assert_allclose(smooth.image.flatten(), np.linalg.solve(matrix, w), atol=1e-3)
    turned = visualize_unit(
        net, "1", torch.tensor([3.0, 4.0]).double(), shape=(1, 2, 3), iterations=400, l2_weight=0.4, lr=0.05
    )
    assert_allclose(turned.image.flatten(), net[1].weight.detach().numpy().T @ [0.6, 0.8] / 0.8, atol=1e-3)


def test_examples_that_excite_a_direction_and_the_purity_of_their_classes():
    net = nn.Sequential(nn.Identity())
    x, y = normal(20, 3), torch.arange(20) % 2
    v = torch.tensor([1.0, -2.0, 0.5]).double()
    found = top_activating(net, "0", v, (x, y), k=5)
    values = x.numpy() @ v.numpy() / np.linalg.norm(v.numpy())
    best = np.argsort(-values)[:5]
    assert found.index.tolist() == best.tolist()
    assert_allclose(found.activation, values[best], rtol=1e-9)
    assert_allclose(found.purity, np.bincount(y.numpy()[best]).max() / 5, rtol=1e-6)
    told = compare_unit_purity(net, "0", (x, y), k=5)
    units = [np.bincount(y.numpy()[np.argsort(-x.numpy()[:, j])[:5]]).max() / 5 for j in range(3)]
    assert_allclose(told.units, np.mean(units), rtol=1e-6)
    law = stats.hypergeom(20, 10, 5)
    exact = sum(law.pmf(k) * max(k, 5 - k) / 5 for k in range(6))
    assert abs(told.chance - exact) < 4 * 0.1 / 200**0.5 and 0.5 < told.random < 1


def test_units_that_are_constant_up_to_a_billionth_are_left_out():
    """The numbers d, 0, d have the deviation d / sqrt(3). Their two largest belong to two classes."""
    y = torch.tensor([0, 0, 1])
    for d, units in ((1.65e-9, 1.0), (1.8e-9, 0.75)):
        x = torch.tensor([[1.0, d], [0.9, 0.0], [0.0, d]])
        assert compare_unit_purity(nn.Sequential(nn.Identity()), "0", (x, y), k=2).units == pytest.approx(units)


def test_frequencies_are_kept_and_masked_decisions_counted():
    x, other = normal(3, 1, 4, 5), normal(3, 1, 4, 5)
    mask = torch.zeros(4, 5)
    mask[0, 0] = mask[1, 2] = mask[3, 3] = 1  # (1, 2) and its mirror (-1, -2)
    kept = np.fft.ifft2(np.fft.fft2(x.numpy()) * mask.numpy()).real
    assert_allclose(keep_frequencies(x, mask), kept, atol=1e-12)
    made = FourierMask(mask.bool(), 1.0, 1.0, 1.0)
    assert made.kept == pytest.approx(3 / 20) and made.frequencies() == ((0, 0), (1, 2))
    rest = other.numpy() - np.fft.ifft2(np.fft.fft2(other.numpy()) * mask.numpy()).real
    assert_allclose(made.ambiguous(x, other), kept + rest, atol=1e-12)
    net = nn.Sequential(nn.Flatten(), nn.Linear(20, 2)).double()
    y = torch.tensor([0, 1, 0])
    told = made.on(net, (x, y))
    a, b = net(x).argmax(1), net(torch.from_numpy(kept)).argmax(1)
    shares = [float((p == q).double().mean()) for p, q in ((a, y), (b, y), (a, b))]
    assert_allclose([told.accuracy, told.masked_accuracy, told.agreement], shares)
    found = fourier_mask(net, (x, y), epochs=1)
    assert bool((found.mask == found.mask.flip(0, 1).roll((1, 1), (0, 1))).all())


def test_a_tree_is_judged_on_the_third_that_it_has_not_seen():
    from sklearn.tree import DecisionTreeClassifier

    net, x = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)), torch.randn(60, 2)
    found = surrogate_tree(net, x, depths=(1, 2), seed=4)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(4)).numpy()
    y, v = net(x).argmax(1).numpy(), x.double().numpy()
    for depth, fidelity in zip((1, 2), found.fidelity, strict=True):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(v[order[:40]], y[order[:40]])
        assert_allclose(fidelity, (tree.predict(v[order[40:]]) == y[order[40:]]).mean())


def test_separation_of_features_and_levels_of_shortcuts():
    x, y = normal(12, 3), torch.arange(12) % 3
    v, c = x.numpy(), y.numpy()
    means = np.stack([v[c == k].mean(0) for k in range(3)])
    within = ((v - means[c]) ** 2).mean(0)
    assert_allclose(separation(x, y), v.var(0) / within - 1, rtol=1e-4)

    def named(p, apart):
        told = Shortcuts((FeatureReliance("pixel (0, 0)", 0.5, 0.9, apart, p),), 0.9, 0.5, 0.01)
        return told.named, told.offered, [f.level.name for f in told.findings]

    one = ("pixel (0, 0)",)
    assert named(0.009, 0.001) == (one, (), ["PROBLEM"]) and named(0.011, 0.009) == ((), one, ["WARNING"])
    assert named(0.011, 0.011) == ((), (), [])


@pytest.mark.parametrize("planted", [True, False])
def test_shortcuts_are_judged_by_exact_binomial_tails(planted):
    torch.manual_seed(0)
    y = torch.arange(200) % 2
    x = torch.randn(200, 4)
    if planted:
        x[:, 2] = 3.0 * (2 * y - 1) + 0.1 * torch.randn(200)
    net = nn.Linear(4, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0, 0, -1, 0], [0, 0, 1.0, 0]]))
        net.bias.zero_()
    found = shortcuts(net, (x, y), level=0.01, seed=1)
    assert (found.named == ("feature 2",)) == planted
    told = {r.name: r for r in found.reliance}["feature 2"]
    if planted:  # right on all of 100 recipients, all decisions of pairs of two classes lost
        rival = max(r.alone for r in found.reliance if r.name != "feature 2")
        tests, k = 2 * len(found.reliance), round(100 * rival)
        bound = max((1 + found.chance) / 2, stats.beta.ppf(1 - 0.01 / tests, k + 1, 100 - k) + 0.1)
        assert told.alone == told.lost == 1.0
        assert_allclose(told.apart, tests * bound**100, rtol=1e-6)
        assert told.p >= told.apart


def test_smooth_grad_is_the_mean_over_its_draws():
    net, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double(), normal(4, 2)
    found = smooth_grad(net, x, sigma=0.3, samples=6, seed=2)
    noise = 0.3 * float(x.max() - x.min()) * torch.randn(6, 4, 2, generator=torch.Generator().manual_seed(2)).double()
    slopes = torch.stack([gradient(net, x + e).values for e in noise])
    assert_allclose(found.values, slopes.mean(0), rtol=1e-6)


def test_maps_and_sequences_are_averaged_over_positions():
    maps, sequences, colors = normal(2, 5, 3, 4), normal(2, 6, 3), normal(2, 3, 4, 4)
    assert_allclose(pool_positions(maps), maps.numpy().mean((2, 3)))
    assert_allclose(pool_positions(sequences), sequences.numpy().mean(1))
    assert_allclose(pool_positions(colors), colors.numpy().reshape(2, -1))  # up to three channels are an image
