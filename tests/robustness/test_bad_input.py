"""Bad input for every public function of landscape, robustness and their neighbors: each is refused in one sentence, in its own name.

The tables are of all public functions (`test_every_public_function_is_in_a_table`); a function that is missing fails.
"""

import copy
import inspect

import pytest
import torch
from torch import nn

from gnomon import attribution, checks, decisions, robustness
from gnomon import landscape as ls
from gnomon.attribution.blocks import block_ablation
from gnomon.attribution.neurons import neuron_distance
from gnomon.attribution.regularity import label_regularity
from gnomon.core.errors import GnomonError
from gnomon.landscape.averaging import averaging_gain
from gnomon.landscape.flow import gradient_flow_gap
from gnomon.landscape.implicit import implicit_penalty
from gnomon.landscape.invisible import invisible_weights
from gnomon.landscape.norms import rank_during_training, solution_norms
from gnomon.landscape.ranges import initialization_scale_range
from gnomon.landscape.run_constants import keep_model
from gnomon.landscape.seed_sensitivity import seed_sensitivity
from gnomon.landscape.shrinkage import weight_shrinkage
from gnomon.landscape.slices import convexity
from gnomon.landscape.smoothness import polyak_constant
from gnomon.robustness.attacks import FGSM

X = torch.rand(8, 4, generator=torch.Generator().manual_seed(1))
Y = torch.tensor([0, 1, 2, 0, 1, 2, 1, 0])
NO_MODEL = {
    "activation_gain", "barron_norm", "basin_map", "critical_weight_std", "edge_of_stability", "equivalent_weight_decay",
    "linear_capacity", "maximal_regions", "mean_field", "signal_findings",
}  # fmt: skip
"""Take neither a network nor examples with labels; their own tests have their bad arguments."""


def landscape_calls(net, other, x, y, bounds):
    three = [net, other, copy.deepcopy(net)]
    return {
        "hessian": lambda: ls.hessian(net, (x, y)).top(1, iterations=2),
        "gauss_newton": lambda: ls.gauss_newton(net, (x, y)).top(1, iterations=2),
        "fisher": lambda: ls.fisher(net, (x, y)).top(1, iterations=2),
        "empirical_fisher": lambda: ls.empirical_fisher(net, (x, y)).top(1, iterations=2),
        "sharpness": lambda: ls.sharpness(net, (x, y), iterations=2),
        "sharpness_variants": lambda: ls.sharpness_variants(net, (x, y), products=12, iterations=2),
        "largest_loss_rise": lambda: ls.largest_loss_rise(net, (x, y)),
        "flatness_radius": lambda: ls.flatness_radius(net, (x, y), draws=1, products=6),
        "local_entropy": lambda: ls.local_entropy(net, (x, y), scope=1e4, draws=2),
        "flat_directions": lambda: ls.flat_directions(net, (x, y), examples=4),
        "gradient_noise": lambda: ls.gradient_noise(net, (x, y)),
        "loss_along": lambda: ls.loss_along(net, (x, y), points=3),
        "loss_plane": lambda: ls.loss_plane(net, (x, y), points=3),
        "convexity": lambda: convexity(net, (x, y), segments=2, products=2),
        "loss_between": lambda: ls.loss_between(net, other, (x, y), points=3),
        "match_units": lambda: ls.match_units(net, other, x),
        "mode_connectivity": lambda: ls.mode_connectivity(net, other, (x, y), points=3),
        "average_models": lambda: ls.average_models([net, other]),
        "averaging_gain": lambda: averaging_gain(three, (x, y)),
        "run_constants": lambda: ls.run_constants(three, (x, y), lr=0.01, products=2),
        "try_gradient_steps": lambda: ls.try_gradient_steps(net, (x, y), products=2),
        "polyak_constant": lambda: polyak_constant(net, (x, y), lr=1e-3, steps=2, products=2),
        "gradient_flow_gap": lambda: gradient_flow_gap(net, (x, y), lr=1e-3, steps=2, step_divisor=2),
        "implicit_penalty": lambda: implicit_penalty(net, (x, y), lr=0.01),
        "lr_range": lambda: ls.lr_range(net, (x, y), steps=5, batch=4),
        "initialization_scale_range": lambda: initialization_scale_range(net, (x, y), scales=(0.3, 1.0), steps=3),
        "scale_invariance": lambda: ls.scale_invariance(net, (x, y)),
        "weight_shrinkage": lambda: weight_shrinkage(net, (x, y), weight_decay=1e-3, k=1, products=2),
        "normalization_importance": lambda: ls.normalization_importance(net, (x, y)),
        "normalization_smoothing": lambda: ls.normalization_smoothing(net, (x, y)),
        "parameter_symmetries": lambda: ls.parameter_symmetries(net, x),
        "solution_norms": lambda: solution_norms(net),
        "rank_during_training": lambda: rank_during_training(three),
        "seed_sensitivity": lambda: seed_sensitivity(lambda seed: copy.deepcopy(net), (x, y), seeds=(0, 1), steps=2),
        "keep_model": lambda: keep_model(0, net, 0.5),
    }


def geometry_calls(net, other, x, y, bounds):
    three, pair = [net, other, copy.deepcopy(net)], (x, y)
    return {
        "signal_propagation": lambda: checks.signal_propagation(net, (x, y)),
        "signal_scales": lambda: checks.signal_scales(net, x),
        "unit_activity": lambda: checks.unit_activity(net, x),
        "unit_duplicates": lambda: checks.unit_duplicates(net),
        "invisible_weights": lambda: invisible_weights(net, x),
        "block_ablation": lambda: block_ablation(net, (x, y)),
        "residual_network_ode_gap": lambda: checks.residual_network_ode_gap(net, x),
        "receptive_field": lambda: attribution.receptive_field(net, x),
        "invertibility": lambda: robustness.invertibility(net, x),
        "jacobian_spectrum": lambda: robustness.jacobian_spectrum(net, x, examples=2),
        "linear_map": lambda: robustness.linear_map(net, x),
        "activation_moment_shift": lambda: checks.activation_moment_shift(three, x),
        "normalized_margin": lambda: decisions.normalized_margin(net, (x, y)),
        "margin_distribution": lambda: robustness.margin_distribution(net, (x, y)),
        "kkt_residual": lambda: decisions.kkt_residual(net, (x, y)),
        "margin_growth": lambda: decisions.margin_growth(three, (x, y)),
        "noise_sensitivity": lambda: robustness.noise_sensitivity(net, (x, y), sigma=0.1, draws=2),
        "lipschitz_bounds": lambda: robustness.lipschitz_bounds(net, x, search=2),
        "operator_norm": lambda: robustness.operator_norm(net, x.shape[1:]),
        "output_bounds": lambda: robustness.output_bounds(net, x, 0.001, bounds=bounds),
        "patterns_in_ball": lambda: robustness.patterns_in_ball(net, x[0], 0.01, draws=20),
        "regions_on_line": lambda: robustness.regions_on_line(net, x[0], x[1]),
        "regions_in_plane": lambda: robustness.regions_in_plane(net, x[0], x[1:3] - x[0], radius=1e-2, pixels=5),
        "preflight": lambda: robustness.preflight(net, pair, eps=0.01, bounds=bounds),
        "attack": lambda: robustness.attack(net, pair, eps=0.01, method=FGSM(), bounds=bounds),
        "robust_accuracy": lambda: robustness.robust_accuracy(net, pair, eps=0.01, attacks=(FGSM(),), bounds=bounds),
        "minimal_distance": lambda: robustness.minimal_distance(net, pair, method=FGSM(), bounds=bounds),
        "universal_perturbation": lambda: robustness.universal_perturbation(
            net, pair, eps=0.01, iterations=2, bounds=bounds
        ),
        "robust_radius": lambda: robustness.robust_radius(net, pair, method=FGSM(), bounds=bounds),
        "smoothed_radius": lambda: robustness.smoothed_radius(net, pair, draws=20),
        "neuron_distance": lambda: neuron_distance(net, other),
        "supremum_distance": lambda: robustness.supremum_distance(net, other, [(0, 1)] * 4, points=16),
        "feature_variance_shares": lambda: attribution.feature_variance_shares(x.flatten(1), y),
        "separability": lambda: decisions.separability(x.flatten(1), y.clamp_max(1)),
        "label_regularity": lambda: label_regularity(x.flatten(1), y),
        "novikoff_bound": lambda: decisions.novikoff_bound(x.flatten(1), y),
    }


def calls(*given):
    return {**landscape_calls(*given), **geometry_calls(*given)}


class Block(nn.Module):
    """A residual block."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return x + torch.relu(self.inner(x))


MADE = {
    "normalization_importance": lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)),
    "normalized_margin": lambda: nn.Sequential(nn.Linear(4, 6, bias=False), nn.ReLU(), nn.Linear(6, 3, bias=False)),
    "block_ablation": lambda: nn.Sequential(Block(), Block(), nn.Linear(4, 3)),
    "linear_map": lambda: nn.Sequential(nn.Linear(4, 3)),
    "receptive_field": lambda: nn.Sequential(nn.Conv2d(1, 2, 2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(18, 3)),
}
for like, others in (("normalization_importance", ["normalization_smoothing"]), ("normalized_margin", ["margin_growth", "kkt_residual"]),
                     ("block_ablation", ["residual_network_ode_gap"]), ("linear_map", ["operator_norm"])):  # fmt: skip
    MADE |= dict.fromkeys(others, MADE[like])
"""What lies within the premises of some functions, instead of two dense layers."""


def network(name):
    torch.manual_seed(0)
    return MADE.get(name, lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)))()


def case(kind, name):
    """Two networks, inputs, labels, bounds."""
    net, other, x, y = network(name), network(name), X, Y
    if kind == "no parameters":
        net, other = nn.Flatten(), nn.Flatten()
    if kind == "frozen":
        net.requires_grad_(requires_grad=False)
        other.requires_grad_(requires_grad=False)
    if kind == "NaN weights":
        with torch.no_grad():
            next(net.parameters()).view(-1)[0] = float("nan")
    if kind == "NaN inputs":
        x = x.clone()
        x[0, 0] = float("nan")
    x = (9 * x).long() if kind == "integer inputs" else 3 * x if kind == "outside the bounds" else x
    x = x.reshape(8, 1, 2, 2) if name == "receptive_field" else x
    y = y + 5 if kind == "labels" else y.clamp_max(1) if name == "novikoff_bound" else y
    return net, other, x, y, (0, 9) if kind == "integer inputs" else (0, 1)


WEIGHTS_ONLY = {"average_models", "keep_model", "neuron_distance", "operator_norm", "rank_during_training", "solution_norms",
                "supremum_distance", "unit_duplicates"}  # fmt: skip
FEATURES = {"label_regularity", "novikoff_bound", "separability", "feature_variance_shares"}
NO_LABELS = WEIGHTS_ONLY | {
    "invertibility", "invisible_weights", "jacobian_spectrum", "linear_map", "lipschitz_bounds", "match_units",
    "activation_moment_shift", "residual_network_ode_gap", "output_bounds", "parameter_symmetries", "patterns_in_ball", "receptive_field",
    "regions_in_plane", "regions_on_line", "signal_scales", "unit_activity",
}  # fmt: skip
BOUNDED = {"attack", "minimal_distance", "output_bounds", "robust_accuracy", "robust_radius", "universal_perturbation"}
FUNCTIONS = {
    "attack", "invertibility", "jacobian_spectrum", "linear_map", "lipschitz_bounds", "margin_distribution",
    "minimal_distance", "noise_sensitivity", "operator_norm", "output_bounds", "preflight", "robust_accuracy",
    "robust_radius", "signal_propagation", "smoothed_radius", "supremum_distance", "universal_perturbation",
}  # fmt: skip
"""Of any function, with parameters or without."""
COMPARED = {"average_models", "averaging_gain", "keep_model", "loss_between", "match_units", "mode_connectivity",
            "parameter_symmetries"}  # fmt: skip
MOVED = set(landscape_calls(*case("", ""))) - COMPARED - {
    "normalization_importance", "normalization_smoothing", "rank_during_training", "solution_norms",
}  # fmt: skip
"""Move the parameters, or differentiate in them."""
EVERY = set(calls(*case("", "")))
FINE = {
    "healthy": EVERY,
    "no parameters": FUNCTIONS | COMPARED | FEATURES,
    "frozen": EVERY - MOVED,
    "NaN weights": FEATURES | {"keep_model", "signal_propagation"},  # a finding of signal, and no judgment of a copy
    "NaN inputs": WEIGHTS_ONLY,
    "labels": NO_LABELS | {"label_regularity", "feature_variance_shares"},  # any whole numbers
    "integer inputs": WEIGHTS_ONLY
    | FEATURES
    | {"lipschitz_bounds", "patterns_in_ball", "regions_in_plane", "regions_on_line"},
    "outside the bounds": EVERY - BOUNDED,
}
"""What works in spite of it, by its nature; everything else must be refused."""


def test_every_public_function_is_in_a_table():
    public = {name for part in (ls, robustness) for name in part.__all__ if inspect.isfunction(getattr(part, name))}
    assert public <= EVERY | NO_MODEL


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(EVERY))
def test_bad_input_is_refused_in_one_sentence(name):
    for kind, fine in FINE.items():
        run = calls(*case(kind, name))[name]
        if name in fine:
            run()
            continue
        with pytest.raises(GnomonError) as caught:
            run()
        told = str(caught.value)
        assert told.startswith(f"{name}(") and "\n" not in told and told.endswith("."), (kind, told)
        assert len(told) < 400, (kind, told)


def test_the_preflight_tells_which_premise_fails():
    net, _, x, y, bounds = case("outside the bounds", "preflight")
    assert "inputs range from" in robustness.preflight(net, (x, y), eps=0.01, bounds=bounds).verdict
