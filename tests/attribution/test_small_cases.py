"""Small cases of attribution that are computed here by hand, by brute force or by a loop without shortcuts."""

import inspect

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from torch import nn

from gnomon import attribution
from gnomon.attribution import (
    bottleneck_curve,
    compare_unit_purity,
    deletion_insertion,
    fourier_mask,
    integrated_gradients,
    invert_layer,
    layer_probe,
    representation_report,
    sanity_check,
    visualize_unit,
)
from gnomon.attribution.cues import patch_shuffle_accuracy
from gnomon.attribution.gradient import smooth_grad
from gnomon.attribution.probes import _ridge, intrinsic_dimension
from gnomon.attribution.record import Attribution
from gnomon.attribution.sanity import rank_correlation, shuffle_parameters
from gnomon.attribution.shortcut import separation, shortcuts
from gnomon.attribution.token_attribution_overview import _line
from gnomon.attribution.trees import surrogate_tree
from gnomon.attribution.units import _vector
from gnomon.core import InputError


def normal(*shape):
    return torch.randn(*shape).double()


def adam(x, slope, steps, rate):
    """The textbook optimizer."""
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, steps + 1):
        g = slope(x)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return x


OTHERS = {
    "smooth_grad": smooth_grad,
    "surrogate_tree": surrogate_tree,
    "patch_shuffle_accuracy": patch_shuffle_accuracy,
}
"""Functions that are imported from their module."""


def test_defaults_of_the_instruments_are_those_of_the_pages():
    wanted = {
        "integrated_gradients": {"baseline": 0.0, "path_points": 50},
        "smooth_grad": {"sigma": 0.15, "samples": 25, "seed": 0},
        "occlusion": {"window": 1, "stride": 1, "fill_value": 0.0},
        "visualize_unit": {"iterations": 200, "l2_weight": 0.05, "total_variation_weight": 0.0, "lr": 0.1, "seed": 0},
        "top_activating": {"k": 10},
        "compare_unit_purity": {"k": 10, "directions": 32, "seed": 0},
        "invert_layer": {"iterations": 300, "total_variation_weight": 0.0, "lr": 0.05},
        "surrogate_tree": {"depths": (1, 2, 3, 5, 8), "seed": 0},
        "fourier_mask": {"sparsity_weight": 1.0, "sparsity_power": 1.0, "epochs": 20},
        "mutual_information": {"neighbors": 3},
        "information_plane": {"bins": 30},
        "bottleneck_curve": {"iterations": 5000, "seed": 0},
        "variational_information": {"steps": 500, "seed": 0},
        "patch_shuffle_accuracy": {"patch": 4, "seed": 0},
        "sanity_check": {"draws": 3, "seed": 0, "random_labels": None},
        "deletion_insertion": {"points": 11, "fill_value": 0.0, "seed": 0},
        "shortcuts": {"level": 0.005, "seed": 0},
        "representation_report": {"iterations": 200},
    }
    for name, options in wanted.items():
        parameters = inspect.signature(getattr(attribution, name, None) or OTHERS[name]).parameters
        assert {key: parameters[key].default for key in options} == options, name


def test_a_picture_climbs_by_the_steps_of_adam_from_small_noise():
    net = nn.Sequential(nn.Linear(5, 3)).double()
    w, b = net[0].weight.detach().numpy()[2], float(net[0].bias.detach()[2])
    start = 0.01 * torch.randn(1, 5, generator=torch.Generator().manual_seed(8)).double().numpy()[0]
    for options, (steps, l2, rate) in (
        ({"iterations": 3}, (3, 0.05, 0.1)),
        ({"iterations": 4, "l2_weight": 0.0, "lr": 0.02}, (4, 0.0, 0.02)),
    ):
        found = visualize_unit(net, "0", 2, shape=(5,), seed=8, **options)
        path = [adam(start, lambda x, l2=l2: 2 * l2 * x - w, k, rate) for k in (steps - 1, steps)]
        assert_allclose(found.image, path[1], rtol=1e-6)
        assert_allclose([found.start, found.activation], [w @ start + b, w @ path[0] + b], rtol=1e-6)
    for bad in ({"l2_weight": -0.1}, {"total_variation_weight": -0.1}, {"lr": 0.0}):
        with pytest.raises(InputError):
            visualize_unit(net, "0", 2, shape=(5,), **bad)
    for unit in (3, -1):
        with pytest.raises(InputError, match="3 units"):
            visualize_unit(net, "0", unit, shape=(5,))


def test_a_map_is_excited_by_its_mean_over_places():
    net = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Tanh()).double()
    found = visualize_unit(net, "1", 1, shape=(2, 3, 4), iterations=1, seed=3)
    start = (0.01 * torch.randn(1, 2, 3, 4, generator=torch.Generator().manual_seed(3))).double()
    assert_allclose(found.start, float(net(start).detach()[0, 1].mean()), rtol=1e-6)


def test_a_direction_has_length_one_and_zero_stays_zero():
    assert _vector(torch.tensor([3.0, 4.0]), 2).tolist() == pytest.approx([0.6, 0.8])
    assert _vector(torch.zeros(2), 2).tolist() == [0.0, 0.0] and _vector(1, 2).tolist() == [0.0, 1.0]


def test_purities_of_units_and_of_drawn_directions_are_counted():
    x, y = normal(30, 3) - 9, torch.arange(30) % 3
    x = torch.cat([x, torch.full((30, 1), -4.0).double()], 1)  # all negative, and a unit that is constant
    found = compare_unit_purity(nn.Sequential(nn.Identity()), "0", (x, y), k=7, directions=5, seed=2)

    def purity(v):
        best = np.argsort(-(x.numpy() @ v))[:7]
        return np.bincount(y.numpy()[best]).max() / 7

    draw = torch.Generator().manual_seed(2)
    free = torch.randn(5, 4, generator=draw, dtype=torch.float64).numpy()
    drawn = [y[torch.randperm(30, generator=draw)[:7]].numpy() for _ in range(200)]
    assert_allclose(found.units, np.mean([purity(v) for v in np.eye(4)[:3]]), rtol=1e-6)
    assert_allclose(found.random, np.mean([purity(v) for v in free]), rtol=1e-6)
    assert_allclose(found.chance, np.mean([np.bincount(c).max() / 7 for c in drawn]), rtol=1e-6)
    first = compare_unit_purity(nn.Sequential(nn.Identity()), "0", (x, y), k=7, directions=2)
    assert_allclose(first.units, np.mean([purity(v) for v in np.eye(4)[:2]]), rtol=1e-6)
    assert compare_unit_purity(nn.Sequential(nn.Identity()), "0", (torch.ones(30, 2), y)).units == 0.0


@pytest.mark.parametrize("shape", [(9, 4), (5, 8), (6, 6)])
def test_a_ridge_regression_is_least_squares_with_rows_for_the_penalty(shape):
    n, d = shape
    rows, goal, others = normal(n, d), normal(n, 3), normal(2, d)
    tall = np.vstack([rows, np.sqrt(1e-3 * n) * np.eye(d)])
    solved = np.linalg.lstsq(tall, np.vstack([goal, np.zeros((d, 3))]), rcond=None)[0]
    assert_allclose(_ridge(rows, goal, others), others.numpy() @ solved, rtol=1e-8)


def test_probes_do_not_depend_on_the_unit_of_the_features():
    y = (torch.arange(60) % 3 == 0).long()  # a third: without the features, the other class is the best answer
    x = normal(60, 2) * 0.2 + y[:, None]
    found = [layer_probe(nn.Identity(), (x * scale, y), layers=[]).layers[0] for scale in (1.0, 1e3, 1e-3)]
    for probe in found:
        assert probe.linear == found[0].linear > 0.9
        assert_allclose(probe.contraction, found[0].contraction, rtol=1e-9)


def test_probes_read_at_most_2000_examples_and_20000_features(monkeypatch):
    asked = []

    class Given:
        def probe(self, count, *, seed):
            asked.append((count, seed))
            raise StopIteration

    with monkeypatch.context() as patch, pytest.raises(StopIteration):
        patch.setattr("gnomon.attribution.probes.data_source", lambda *_, **__: Given())
        layer_probe(nn.Identity(), None, seed=3)
    assert asked == [(2000, 3)]
    for features, layers in ((20_000, 1), (20_001, 0)):
        found = layer_probe(nn.Identity(), (torch.randn(8, features), torch.arange(8) % 2), layers=[])
        assert len(found.layers) == layers
    with pytest.raises(InputError, match="too few"):
        layer_probe(nn.Identity(), (torch.randn(7, 2), torch.arange(7) % 2), layers=[])


def test_the_dimension_of_few_and_of_equidistant_points_is_finite():
    assert intrinsic_dimension(normal(3, 2)) == 0.0
    four = torch.tensor([[0.0], [1.0], [3.0], [7.0], [7.0]]).double()
    # nearest and next distances: (1, 3), (1, 2), (2, 3), (4, 6); the duplicate is left out
    assert_allclose(intrinsic_dimension(four), 3 / np.log(3 * 2 * 1.5 * 1.5))
    assert_allclose(intrinsic_dimension(torch.eye(5).double()), 4e12)


def test_a_rank_correlation_leaves_out_what_is_zero_in_both_maps():
    a = torch.tensor([[0.0, 1.0, -2.0, 3.0, 0.0, 5.0]])
    b = torch.tensor([[0.0, -2.0, 1.0, 3.0, 4.0, 0.0]])
    # five features are used; ranks 1 2 3 0 4 and 2 1 3 4 0, so 1 - 6 (1 + 1 + 0 + 16 + 16) / (5 (25 - 1))
    assert_allclose(rank_correlation(a, b), 1 - 6 * 34 / 120)
    three = torch.tensor([[1.0, 2.0, 3.0, 0.0]])
    assert_allclose(rank_correlation(three, torch.tensor([[3.0, 2.0, 1.0, 0.0]])), -1)
    two = torch.tensor([[1.0, 2.0, 0.0, 0.0]])
    assert rank_correlation(two, two.flip(1)[:, [2, 3, 0, 1]]) == 1.0  # too few to rank
    both = torch.cat([three, two])
    assert_allclose(rank_correlation(both, torch.tensor([[3.0, 2.0, 1.0, 0.0], [2.0, 1.0, 0.0, 0.0]])), -1)


def test_a_sanity_check_is_the_mean_over_its_draws_of_shuffled_weights():
    net, x = nn.Linear(6, 2), torch.randn(4, 6)
    maps = [torch.randn(4, 6) for _ in range(5)]
    weights = []

    def method(module, inputs, target):
        weights.append(module.weight.detach().clone())
        return Attribution(maps[len(weights) - 1], target, "planted")

    found = sanity_check(method, net, x, 1, random_labels=nn.Linear(6, 2))
    assert_allclose(found.weights, np.mean([rank_correlation(maps[0], maps[k]) for k in (1, 2, 3)]), rtol=1e-6)
    assert_allclose(found.labels, rank_correlation(maps[0], maps[4]), rtol=1e-6)
    for w in weights[1:4]:
        assert not torch.equal(w, net.weight) and torch.equal(
            w.flatten().sort().values, net.weight.flatten().sort().values
        )
    assert not torch.equal(weights[1], weights[2])


def test_shuffled_parameters_are_permuted_within_themselves():
    net = nn.Linear(3, 4)
    other = shuffle_parameters(net, torch.Generator().manual_seed(5))
    draw = torch.Generator().manual_seed(5)
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(q.flatten(), p.flatten()[torch.randperm(p.numel(), generator=draw)])


def test_the_random_curve_covers_in_the_order_of_its_draw():
    net, x = nn.Linear(6, 1).double(), normal(3, 6)
    values = Attribution(normal(3, 6), torch.zeros(3, dtype=torch.long), "m")
    found = deletion_insertion(net, x, values, points=4, fill_value=-0.7, seed=11)
    order = torch.rand(3, 6, generator=torch.Generator().manual_seed(11)).argsort(1)
    for curve, k in zip(found.random, (0, 2, 4, 6), strict=True):
        covered = x.clone()
        for i in range(3):
            covered[i, order[i, :k]] = -0.7
        assert_allclose(curve, float(net(covered).mean().detach()), rtol=1e-9)
    with pytest.raises(InputError, match="points"):
        deletion_insertion(net, x, values, points=1)


def test_separation_has_a_ceiling_and_leaves_out_what_is_nearly_constant():
    y = torch.tensor([0, 0, 1, 1, 1])
    exact = y.double()
    x = torch.stack([exact, 1.1e-6 * exact, 0.9e-6 * exact], 1)
    # variances within are zero: between / (1e-6 total); the last has less than 1e-12 of the largest variance
    assert_allclose(separation(x, y), [1e6, 1e6, 0.0], rtol=1e-9)


def reliance_by_hand(net, x, y, seed, swap, parts):
    """Decisions lost and votes of five neighbors, by loops."""
    n = len(y)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).numpy()
    a, b = order[: n // 2], order[n // 2 : 2 * (n // 2)]
    decided = lambda v: net(v).argmax(1).numpy()  # noqa: E731
    right = (decided(x[a]) == y.numpy()[a]) & (y.numpy()[a] != y.numpy()[b])
    mixed = swap(x[a], x[b])
    lost = (decided(mixed)[right] != y.numpy()[a][right]).sum() / max(right.sum(), 1)
    own, theirs = parts(x[a]), parts(x[b])
    told = 0
    for row, label in zip(own, y.numpy()[a], strict=True):
        near = np.argsort(np.linalg.norm(theirs - row, axis=1))[:5]
        told += np.bincount(y.numpy()[b][near]).argmax() == label
    accuracy = (decided(x[a]) == y.numpy()[a]).mean()
    return lost, told / len(a), accuracy


def test_features_are_exchanged_and_vote_as_if_counted_by_hand():
    torch.manual_seed(4)
    y = (torch.rand(81) < 0.6).long()
    x = torch.randn(81, 12).double() * torch.linspace(0.5, 2, 12).double() + 0.7 * y[:, None]
    net = nn.Linear(12, 2).double()
    found = shortcuts(net, (x, y), seed=6)
    assert 8 <= len(found.reliance) <= 12
    ranks = [(r.p, r.apart, -r.lost) for r in found.reliance]
    assert ranks == sorted(ranks) and len({r.lost for r in found.reliance if r.p == 1.0}) > 1
    for r in found.reliance:
        i = int(r.name.split()[1])

        def swap(a, b, i=i):
            mixed = a.clone()
            mixed[:, i] = b[:, i]
            return mixed

        lost, alone, accuracy = reliance_by_hand(net, x, y, 6, swap, lambda v, i=i: v[:, [i]].numpy())
        assert_allclose([r.lost, r.alone, found.accuracy], [lost, alone, accuracy])
    assert_allclose(found.chance, max(float(y.double().mean()), 1 - float(y.double().mean())))


@pytest.mark.parametrize("size", [(4, 5), (5, 4), (4, 6)])
def test_pixels_and_frequencies_are_exchanged_as_if_counted_by_hand(size):
    torch.manual_seed(5)
    y = (torch.rand(70) < 0.5).long()
    x = torch.randn(70, 2, *size).double() + 0.5 * y[:, None, None, None]
    net = nn.Sequential(nn.Flatten(), nn.Linear(2 * size[0] * size[1], 2)).double()
    found = shortcuts(net, (x, y), seed=7)
    frequencies = [r for r in found.reliance if r.name.startswith("frequency")]
    assert len(frequencies) == 8
    for r in found.reliance:
        row, column = (int(v) for v in r.name.split("(")[1].split(")")[0].split(","))
        if r in frequencies:

            def swap(a, b, row=row, column=column):
                own, theirs = np.fft.fft2(a.numpy()), np.fft.fft2(b.numpy())
                for sign in (1, -1):
                    place = (..., sign * row % size[0], sign * column % size[1])
                    own[place] = theirs[place]
                assert abs(np.fft.ifft2(own).imag).max() < 1e-12
                return torch.from_numpy(np.fft.ifft2(own).real)

            def parts(v, row=row, column=column):
                f = np.fft.fft2(v.numpy())[..., row % size[0], column]
                return np.concatenate([f.real, f.imag], 1)

            assert (row, column) != (0, 0) and -size[0] / 2 < row <= size[0] / 2
        else:
            channel = int(r.name.split()[-1])

            def swap(a, b, channel=channel, row=row, column=column):
                mixed = a.clone()
                mixed[:, channel, row, column] = b[:, channel, row, column]
                return mixed

            def parts(v, channel=channel, row=row, column=column):
                return v[:, channel, row, [column]].numpy()

        lost, alone, _ = reliance_by_hand(net, x, y, 7, swap, parts)
        assert_allclose([r.lost, r.alone], [lost, alone])


@pytest.mark.parametrize("row, column", [(2, 0), (2, 3), (1, 3), (-1, 2), (1, 0), (0, 3)])
def test_the_planted_frequency_is_the_first_candidate(row, column):
    torch.manual_seed(6)
    y = torch.arange(60) % 2
    a, b = torch.meshgrid(torch.arange(4), torch.arange(6), indexing="ij")
    wave = torch.cos(2 * torch.pi * (row * a / 4 + column * b / 6))
    x = 0.1 * torch.randn(60, 1, 4, 6) + y[:, None, None, None] * wave
    found = shortcuts(nn.Sequential(nn.Flatten(), nn.Linear(24, 2)), (x, y))
    best = max((r for r in found.reliance if r.name.startswith("frequency")), key=lambda r: r.alone)
    assert best.name == f"frequency ({row}, {column})" and best.alone == 1.0
    assert "frequency (0, 0)" not in [r.name for r in found.reliance]


def test_at_least_30_examples_are_needed_for_shortcuts():
    x, y = torch.randn(30, 2), torch.arange(30) % 2
    assert shortcuts(nn.Linear(2, 2), (x, y)).chance == 0.5
    with pytest.raises(InputError, match="too few"):
        shortcuts(nn.Linear(2, 2), (x[:29], y[:29]))


def test_brackets_hold_the_fewest_tokens_with_half_of_the_attribution():
    assert _line(["a", "b", "c"], torch.tensor([2.0, 6.0, 2.0])) == "a [b] c"
    assert _line(["a", "b", "c"], torch.tensor([3.0, 4.0, 2.5])) == "[a] [b] c"
    assert _line(["a", "b", "c"], torch.tensor([2.0, 1.0, 1.0])) == "[a] b c"


def test_integrated_gradients_are_gauss_sums_along_the_path():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    x, base = normal(5, 3), normal(3)
    found = integrated_gradients(net, x, 1, baseline=base, path_points=2)
    total = 0
    for s in ((1 - 3**-0.5) / 2, (1 + 3**-0.5) / 2):
        z = (base + s * (x - base)).requires_grad_()
        total = total + torch.autograd.grad(net(z)[:, 1].sum(), z)[0] / 2
    values = ((x - base) * total).detach()
    assert_allclose(found.values, values, rtol=1e-9)
    rise = (net(x) - net(base[None]))[:, 1].detach()
    assert_allclose(found.completeness, (values.sum(1) - rise).abs() / values.abs().sum(1), rtol=1e-6)


def test_a_bottleneck_is_the_best_code_of_a_search():
    law = np.array([[0.35, 0.05, 0.1], [0.05, 0.3, 0.15]])

    def information(joint):
        free = joint.sum(1, keepdims=True) * joint.sum(0)
        return float((joint * np.log(joint / free)).sum())

    def both(v):
        code = 1 / (1 + np.exp(-np.array([[v[0], -v[0]], [v[1], -v[1]]])))
        return information(code * law.sum(1, keepdims=True)), information(code.T @ law)

    for beta in (4.0, 9.0):
        cost = lambda v, beta=beta: both(v)[0] - beta * both(v)[1]  # noqa: E731
        best = minimize(cost, [1.0, -1.5], method="BFGS", options={"gtol": 1e-9})
        found = bottleneck_curve(law, [beta])
        assert_allclose([found.about_input[0], found.about_target[0]], both(best.x), rtol=1e-4)
        assert found.residual < 1e-10
    curve = bottleneck_curve(law, [9.0, 0.5, 4.0])
    assert curve.betas == (0.5, 4.0, 9.0) and curve.critical == 4.0
    assert_allclose(
        curve.about_target, [0, bottleneck_curve(law, [4.0]).about_target[0], found.about_target[0]], atol=1e-6
    )


@pytest.mark.parametrize("lam, p", [(0.5, 1.0), (2.0, 0.5)])
def test_a_mask_over_frequencies_descends_the_loss_of_its_equation(lam, p):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Flatten(), nn.Linear(12, 3)).double()
    x, y = 3 * normal(8, 1, 3, 4), torch.arange(8) % 3
    theta = torch.full((3, 4), 2.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([theta], 0.1)
    at = [(i, j) for i in range(3) for j in range(4)]
    waves = torch.stack([
        torch.stack([torch.cos(torch.tensor(2 * np.pi * (i * (a - c) / 3 + j * (b - d) / 4))) for (c, d) in at])
        for (a, b) in at for (i, j) in at
    ]).double().reshape(12, 12, 12) / 12  # fmt: skip
    for _ in range(25):
        open_ = torch.sigmoid(theta)
        mask = torch.stack([(open_[i, j] + open_[-i % 3, -j % 4]) / 2 for (i, j) in at])
        kept = x.reshape(8, 12) @ torch.einsum("afb,f->ab", waves, mask).T
        change = nn.functional.cross_entropy(net[1](kept), y, reduction="none")
        change = change - nn.functional.cross_entropy(net(x), y, reduction="none")
        loss = torch.exp(torch.clamp(change**2, max=20)).mean() + lam * (mask**p).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    open_ = torch.sigmoid(theta.detach())
    mask = torch.stack([(open_[i, j] + open_[-i % 3, -j % 4]) / 2 for (i, j) in at]).reshape(3, 4)
    found = fourier_mask(net, (x, y), sparsity_weight=lam, sparsity_power=p, epochs=25)
    assert 0 < found.kept < 1
    assert torch.equal(found.mask, mask > mask.max() / 2)


def test_an_inversion_reports_the_errors_of_its_reconstruction():
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).double()
    x = normal(5, 4) * 2 + 1
    found = invert_layer(net, "1", x, iterations=7)
    z, h = found.reconstruction, net(x).detach()
    assert_allclose(found.error, float((net(z).detach() - h).norm() / h.norm()), rtol=1e-9)
    wide = float(x.max() - x.min())
    assert_allclose(found.psnr, 10 * np.log10(wide**2 / float((z - x).square().mean())), rtol=1e-9)


def test_a_report_needs_three_examples_and_compares_two_hundred():
    x = normal(3, 2)
    options = {"transformations": [lambda v: -v], "iterations": 1}
    report = representation_report(nn.Sequential(nn.Identity()), "0", (x, [0, 1, 0]), **options)
    assert_allclose(report.stability, 1.0)
    with pytest.raises(InputError, match="three examples"):
        representation_report(nn.Sequential(nn.Identity()), "0", (x[:2], [0, 1]), **options)
    far = torch.linspace(0, 1, 260).double()[:, None] ** 2
    told = representation_report(nn.Sequential(Square()), "0", (far, (far[:, 0] > 0.5).long().tolist()), **options)
    assert_allclose(
        told.stability, float(far[198] + far[199]), rtol=1e-9
    )  # slopes of x^2 rise to that of the last pair


class Square(nn.Module):
    def forward(self, x):
        return x**2


def test_a_tree_of_few_inputs_is_fitted_on_two_thirds():
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]])
    net = nn.Linear(1, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0], [1.0]]))
        net.bias.copy_(torch.tensor([3.5, 0.0]))
    found = surrogate_tree(net, x, depths=(2,), seed=1)
    assert found.tree.tree_.n_node_samples[0] == 5
    assert surrogate_tree(net, x).depths == (1, 2, 3, 5, 8)
