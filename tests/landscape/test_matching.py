"""Matching of hidden units, planes, forms of sharpness, flatness, constants along a run and symmetries."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn
from torch.nn.utils import parameters_to_vector

import gnomon
from gnomon.core import InputError
from gnomon.data import digits
from gnomon.landscape import (
    flatness_radius,
    hessian,
    loss_plane,
    match_units,
    mode_connectivity,
    parameter_symmetries,
    run_constants,
    sharpness_variants,
)
from gnomon.landscape.averaging import averaging_gain
from gnomon.landscape.run_constants import keep_model
from gnomon.program.units import hidden_units, permute_units
from gnomon.training import SGD, Adam


def convolutional():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(8, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(48, 10))  # fmt: skip


def dense():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 10))


@pytest.fixture(scope="module")
def images():
    data = digits(400, 100)
    return data.x.reshape(-1, 1, 8, 8), data.y


def trained(make, seed, images, steps=60):
    torch.manual_seed(seed)
    return gnomon.train(
        make(), images, optimizer=Adam(0.01), steps=steps, batch=100, seed=seed, record=[steps]
    ).model.eval()


@pytest.mark.parametrize("by", ["activations", "weights"])
@pytest.mark.parametrize("make", [dense, convolutional])
def test_a_shuffled_copy_is_put_back_in_order(make, by, images):
    torch.manual_seed(0)
    net = make().eval()
    other = copy.deepcopy(net)
    for group in hidden_units(net, images[0][:1]).permutations:
        permute_units(other, group, torch.randperm(group.size))
    found = match_units(net, other, images[0], by=by)
    assert found.before > 0.1 and found.after == 0 and found.moved_units > 0
    assert "were permuted" in found.verdict and found.plots()


@pytest.mark.parametrize("make", [dense, pytest.param(convolutional, marks=pytest.mark.full)])
def test_matching_lowers_the_barrier_between_two_runs(make, images):
    a, b = (trained(make, seed, images) for seed in (0, 1))
    before = copy.deepcopy(b.state_dict())
    found = mode_connectivity(a, b, images, points=5)
    assert found.before.barrier > 0.3 and found.after.barrier < 0.6 * found.before.barrier
    assert all(torch.equal(p, q) for p, q in zip(before.values(), b.state_dict().values(), strict=True))
    assert_allclose(found.after.losses[[0, -1]], found.before.losses[[0, -1]], rtol=1e-4)  # the ends compute the same
    assert len(found.plots()) == 1 and "barrier" in found.verdict


def test_statistics_of_an_averaged_network_are_measured_anew(images):
    """Two late models of one run, with batch norm: their mean is no worse, and stale statistics would tell otherwise."""
    first = trained(convolutional, 0, images, 40)
    second = gnomon.train(first, images, optimizer=Adam(0.003), steps=15, batch=100, record=[15]).model
    found = averaging_gain([first, second], images)
    assert found.weights < max(found.losses) + 0.02 and found.mean == pytest.approx(sum(found.losses) / 2)


def test_a_plane_through_a_quadratic_is_the_quadratic():
    torch.manual_seed(0)
    net = nn.Linear(3, 1, bias=False).double()
    x, y = torch.randn(20, 3).double(), torch.randn(20).double()
    others = [copy.deepcopy(net) for _ in range(2)]
    for other in others:
        nn.init.normal_(other.weight)
    plane = loss_plane(net, (x, y), models=others, points=5)
    assert plane.share == pytest.approx(1) and plane.path.shape == (3, 2)
    for model, place in zip((*others, net), plane.path, strict=True):
        # the loss at a model's place, from the six numbers of the quadratic on the plane
        design = torch.stack([torch.ones(25), *(c.flatten() for c in _powers(plane))], 1).double()
        fit = torch.linalg.lstsq(design, plane.losses.flatten()[:, None]).solution[:, 0]
        s, t = place
        expected = fit @ torch.stack([torch.ones(()).double(), s, t, s * s, s * t, t * t])
        loss = float(((model(x)[:, 0].detach() - y) ** 2).mean() / 2)
        assert float(expected) == pytest.approx(loss, rel=1e-8)
    with pytest.raises(InputError, match="on one line"):
        loss_plane(net, (x, y), models=[others[0], others[0]])
    with pytest.raises(InputError, match="one model"):
        loss_plane(net, (x, y), models=[others[0]])


def _powers(plane):
    t, s = torch.meshgrid(plane.t, plane.s, indexing="ij")
    return s, t, s * s, s * t, t * t


def test_random_planes_do_not_see_the_scale_of_layers(images):
    """Filter normalization: a network with rescaled layers has the same picture where biases are zero."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8, bias=False), nn.ReLU(), nn.Linear(8, 10, bias=False)).double()
    x, y = images[0][:30].double(), images[1][:30]
    other = copy.deepcopy(net)
    with torch.no_grad():
        other[1].weight.mul_(5)
        other[3].weight.div_(5)
    one, two = (loss_plane(n, (x, y), points=3, reach=0.5) for n in (net, other))
    assert_allclose(one.losses, two.losses, rtol=1e-9)
    assert one.plots() and "plane" in one.verdict


def test_plain_forms_of_sharpness_change_with_a_rescaling_and_adaptive_ones_do_not():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    x, y = torch.randn(30, 3).double(), torch.randn(30).double()
    found = sharpness_variants(net, (x, y), radius=0.01, products=200)
    plain, adaptive = (
        ("largest eigenvalue", "trace", "rise in a ball"),
        ("adaptive eigenvalue", "adaptive trace", "adaptive rise"),
    )
    assert set(adaptive) <= set(found.invariant) and not set(plain) & set(found.invariant)
    for name in ("adaptive eigenvalue", "adaptive rise"):  # no random numbers: exact to rounding
        assert found.rescaled[name] == pytest.approx(found.values[name], rel=1e-5)
    h = hessian(net, (x, y)).dense()
    w = parameters_to_vector(net.parameters()).detach()
    assert found.values["largest eigenvalue"] == pytest.approx(float(torch.linalg.eigvalsh(h)[-1]), rel=1e-6)
    assert found.values["adaptive eigenvalue"] == pytest.approx(
        float(torch.linalg.eigvalsh(w.abs() * h * w.abs()[:, None])[-1]), rel=1e-6
    )
    assert found.values["adaptive trace"] == pytest.approx(float((w**2 * h.diagonal()).sum()), rel=0.3)
    smooth = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    assert sharpness_variants(smooth, (x, y), products=12).rescaled == {}  # tanh: nothing can be rescaled


def test_flatness_of_an_elongated_parabola():
    net = nn.Linear(3, 1, bias=False).double()
    nn.init.zeros_(net.weight)
    x = torch.diag(torch.tensor([1.0, 2.0, 10.0])).double() * 3**0.5
    found = flatness_radius(net, (x, torch.zeros(3).double()), rise=0.5, draws=100)  # L = w H w / 2, H = 1, 4, 100
    assert found.worst == pytest.approx(0.1, rel=1e-3) and found.foretold_worst == pytest.approx(0.1, rel=1e-6)
    generator = torch.Generator().manual_seed(5)
    v = torch.nn.functional.normalize(torch.randn(20000, 3, generator=generator).double(), dim=1)
    exact = (v**2 @ torch.tensor([1.0, 4.0, 100.0]).double()).rsqrt().median()
    assert found.typical == pytest.approx(float(exact), rel=0.3)  # the median of 100 against that of 20,000
    assert found.worst <= float(found.radii.min()) and found.plots()


def test_constants_along_a_run_of_least_squares():
    torch.manual_seed(0)
    x = torch.randn(40, 3).double()
    y, net = x @ torch.tensor([1.0, -2.0, 0.5]).double(), nn.Linear(3, 1, bias=False).double()
    values = torch.linalg.eigvalsh(x.T @ x / 40)
    run = gnomon.train(
        net, (x, y), optimizer=SGD(0.5 / float(values[-1])), steps=20, record=5, watch={"model": keep_model}
    )
    found = run_constants(run.watched["model"], (x, y), lr=0.5 / float(values[-1]))
    assert_allclose(found.losses, run.loss, rtol=1e-9)
    assert_allclose(found.smoothness, float(values[-1]), rtol=1e-6)
    assert float(values[0]) * (1 - 1e-6) <= found.polyak <= float(values[-1])
    assert all(float(values[0]) <= s <= float(values[-1]) * (1 + 1e-9) for s in found.smoothness_along)
    assert min(found.cosines) > 0 and 0 < found.rate < 1 and len(found.plots()) == 2
    with pytest.raises(InputError, match="list of models is empty"):
        run_constants([], (x, y), lr=0.1)


def test_symmetries_are_found_tried_and_counted(images):
    found = parameter_symmetries(convolutional().eval(), images[0])
    assert found.permutable == {"0": 8, "4": 12} and found.directions == 20
    assert found.log10_orders == pytest.approx(13.2857, abs=1e-3)  # log10 of 8! 12!
    assert found.order_error < 1e-5 and found.scaling_error < 1e-4 and "permuted" in found.verdict
    none = parameter_symmetries(nn.Linear(2, 2), torch.randn(3, 2))
    assert none.permutable == {} and "No hidden units" in none.verdict


def test_bad_arguments_are_refused(images):
    net = dense()
    with pytest.raises(InputError, match='by must be "activations" or "weights"'):
        match_units(net, net, images[0], by="names")
    with pytest.raises(InputError, match="has shape"):
        match_units(net, convolutional(), images[0])
    frozen = dense().requires_grad_(requires_grad=False)
    for call in (lambda: loss_plane(frozen, images), lambda: flatness_radius(frozen, images),
                 lambda: sharpness_variants(frozen, images), lambda: run_constants([frozen], images, lr=0.1)):  # fmt: skip
        with pytest.raises(InputError, match="requires a gradient|require"):
            call()


def test_batch_statistics_that_were_never_measured_are_no_barrier():
    """A copy is its own average: before any batch was seen the measured statistics are not those of the models."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    x, y = 3 * torch.randn(40, 3) + 2, torch.randint(0, 2, (40,))
    fresh = averaging_gain([net, copy.deepcopy(net)], (x, y))
    assert abs(fresh.weights - fresh.mean) < 1e-6
    net.train()(x)
    seen = averaging_gain([net, copy.deepcopy(net)], (x, y))
    assert abs(seen.weights - seen.mean) > 1e-3  # one batch at momentum 0.1: these data have other statistics
