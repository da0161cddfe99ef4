"""Default options, thresholds and limits of the landscape, each beside a call that uses them."""

import inspect
from math import inf

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.landscape.basins import basin_map
from gnomon.landscape.connectivity import mode_connectivity
from gnomon.landscape.edge import EdgeOfStability
from gnomon.landscape.flat_directions import flat_directions
from gnomon.landscape.flow import gradient_flow_gap
from gnomon.landscape.hessian import hessian
from gnomon.landscape.planes import loss_plane
from gnomon.landscape.ranges import initialization_scale_range, lr_range
from gnomon.landscape.run_constants import RunConstants
from gnomon.landscape.scale import scale_invariance
from gnomon.landscape.seed_sensitivity import _apart, seed_sensitivity
from gnomon.landscape.sharpness_variants import sharpness_variants
from gnomon.landscape.slices import convexity
from gnomon.landscape.statistics import measure_statistics
from gnomon.landscape.symmetries import parameter_symmetries, read_units, rescaled_copy
from gnomon.training.evaluate import Objective

G = torch.Generator().manual_seed(0)
X, Y = torch.randn(6, 2, generator=G).double(), torch.randn(6, generator=G).double()


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).double()


CALLS = [
    (lambda: basin_map(lambda w: w.square().sum(1), points=2, steps=1), basin_map, {"lr": 0.01, "steps": 2000, "points": 60}),
    (lambda: sharpness_variants(network(), (X, Y), products=12, iterations=3), sharpness_variants,
     {"radius": 0.05, "factor": 10.0, "products": 60}),
    (lambda: loss_plane(network(), (X, Y), points=3), loss_plane, {"reach": 1.0, "points": 21}),
    (lambda: gradient_flow_gap(network(), (X, Y), lr=0.1, steps=1), gradient_flow_gap, {"steps": 100, "step_divisor": 8}),
    (lambda: flat_directions(network(), (X, Y)), flat_directions, {"examples": 100}),
    (lambda: lr_range(network(), (X, Y), steps=3, high=1e-3), lr_range,
     {"low": 1e-5, "high": 10.0, "steps": 100, "batch": 64}),
    (lambda: initialization_scale_range(network(), (X, Y), scales=(1.0,), steps=2), initialization_scale_range,
     {"steps": 200, "scales": (0.1, 0.3, 1.0, 3.0, 10.0)}),
    (lambda: mode_connectivity(network(), network(), (X, Y), points=2), mode_connectivity, {"points": 11}),
    (lambda: seed_sensitivity(lambda s: network(), (X, Y), seeds=(0, 1), steps=1), seed_sensitivity,
     {"seeds": (0, 1, 2, 3), "steps": 300}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "function", "options"), CALLS, ids=[function.__name__ for _, function, _ in CALLS])
def test_options_have_their_defaults(call, function, options):
    call()
    found = inspect.signature(function).parameters
    assert {name: found[name].default for name in options} == options


def test_operators_take_their_defaults():
    """Three parameters: the density takes at most three steps from each of four starts."""
    net = nn.Linear(2, 1).double()
    operator = hessian(net, (X, Y))
    density = operator.density()
    exact = torch.linalg.eigvalsh(torch.autograd.functional.hessian(
        lambda w: (X @ w[:2] + w[2] - Y).square().mean() / 2, torch.zeros(3).double()))  # fmt: skip
    assert torch.allclose(density.points.sort().values, exact.repeat_interleave(4), atol=1e-8)
    assert (density.starts, float(density.weights.sum())) == (4, pytest.approx(1))
    assert inspect.signature(operator.density).parameters["starts"].default == 4
    assert operator.diagonal(samples=4).values.shape == (3,)
    assert inspect.signature(operator.diagonal).parameters["samples"].default == 100
    b = torch.ones(3).double()
    assert torch.allclose(operator.matvec(operator.inverse_product(b).x), b, atol=1e-4)
    assert inspect.signature(operator.inverse_product).parameters["products"].default == 1000


def test_the_last_rate_of_a_run_is_reached_in_geometric_steps():
    found = lr_range(network(), (X, Y), low=1e-4, high=1e-2, steps=3)
    assert found.lrs == pytest.approx((1e-4, 1e-3, 1e-2)) and found.stopped == "finished"
    with pytest.raises(InputError):
        lr_range(network(), (X, Y), steps=2)


@pytest.mark.parametrize(("ratio", "place"), [(0.84, "below"), (0.86, "at"), (1.14, "at"), (1.16, "beyond")])
def test_a_run_is_at_the_edge_within_fifteen_percent(ratio, place):
    sharpness = torch.tensor([1.0, 9.0, 9.0, 9.0, 2 * ratio - 0.2, 2 * ratio + 0.2]).double()  # the last third counts
    assert EdgeOfStability(torch.arange(6), sharpness, 2.0).place == place


def test_the_rate_of_a_run_is_never_negative():
    assert RunConstants((2.0,), (4.0,), (4.0,), (1.0,), (5.0,), 0.1).rate == 0.0
    assert RunConstants((2.0, 1.0), (4.0, 8.0), (4.0, 4.0), (1.0, 1.0), (3.0, 2.0), 0.1).rate == 0.75


def test_distances_between_starts_are_relative_to_both_and_averaged_over_pairs():
    a, b, c = (torch.tensor(v).double() for v in ([2.0, 0.0], [0.0, 8.0], [2.0, 0.0]))
    assert _apart([a, b, c]) == pytest.approx((2 * (4 + 64) ** 0.5 / 4 + 0) / 3)
    with pytest.raises(InputError):
        seed_sensitivity(lambda s: network(), (X, Y), seeds=(0,), steps=1)


def test_groups_of_units_are_rescaled_in_turn_up_and_down():
    """relu(a x): factors sqrt 16 to 16 of the first group of three units, 1 / 4 and 1 / 16 of the second of two."""
    net = network()
    copy = rescaled_copy(net, read_units(net, X)[1], 16.0)
    assert torch.allclose(copy(X), net(X))
    up = copy[0].weight / net[0].weight
    assert torch.allclose(up, torch.tensor([4.0, 8.0, 16.0]).double()[:, None].expand(3, 2))
    assert torch.allclose(copy[2].bias / net[2].bias, torch.tensor([1 / 4, 1 / 16]).double())


def test_an_order_that_changes_outputs_downwards_is_an_error_as_well(monkeypatch):
    """Outputs are -f, f plus 1 and f minus 3: both errors are relative to the largest size, not the largest value."""
    made = iter([torch.tensor([[-4.0], [2.0]]), torch.tensor([[-5.0], [2.0]]), torch.tensor([[-4.0], [-1.0]])])
    monkeypatch.setattr("gnomon.landscape.symmetries._outputs", lambda *_, **__: next(made).double())
    found = parameter_symmetries(network(), X)
    assert (found.order_error, found.scaling_error) == (0.25, 0.75)


def test_a_weight_without_gradient_has_no_cosine_beyond_its_own():
    """A weight whose gradient vanishes: 0 / 0 would be no number."""
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)).double()
    net[1].weight.data.zero_()
    found = scale_invariance(net, (X, Y))
    assert found.cosines["0.weight"] == 0.0


def test_segments_around_zero_have_a_small_length_of_their_own():
    class Dome(nn.Linear):
        def forward(self, x):
            return -self.weight.square().sum().expand(len(x), 1)

    net = Dome(2, 1, bias=False).double()
    net.weight.data.zero_()
    assert convexity(net, (X, Y), segments=3, loss=lambda f, y: f.mean()).broken == 1.0


def test_only_the_first_hundred_examples_are_looked_at():
    """A hundred equal examples hold one direction: rounding of their products must not count as a second."""
    x = torch.cat([torch.tensor([[1.0, 0.0]]).repeat(100, 1), torch.tensor([[0.0, 1.0]])]).double()
    net = nn.Linear(2, 1, bias=False).double()
    assert flat_directions(net, (x, torch.zeros(101))).rank == 1
    assert flat_directions(net, (x, torch.zeros(101)), examples=101).rank == 2


@pytest.mark.parametrize(("seen", "mean"), [(False, 0.0), (True, 2.0)])
def test_layers_that_saw_no_batch_keep_their_statistics(seen, mean):
    net, x = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1)), torch.tensor([[1.0], [3.0]])
    net[0].num_batches_tracked.fill_(int(seen))
    measure_statistics(net, Objective.of((x, torch.zeros(2)), net, None))
    assert net[0].running_mean.item() == mean
    assert inf > inspect.signature(measure_statistics).parameters["size"].default == 512
