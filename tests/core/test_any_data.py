"""Every function with an argument `data` takes a pair, a data set, a loader and a list of batches alike."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon import (
    attribution,
    bayes,
    bounds,
    checks,
    decisions,
    discovery,
    landscape,
    robustness,
    sequences,
    symmetry,
    tangent,
    training,
)
from tests.house import options

X = torch.rand(24, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0.5).long()
SERIES = torch.rand(24, 6, 3, generator=torch.Generator().manual_seed(1))
IMAGES = torch.rand(24, 1, 4, 4, generator=torch.Generator().manual_seed(2))


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def vision():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2))


def forms(x):
    pairs = TensorDataset(x, Y)
    batches = [(x[i : i + 8], Y[i : i + 8]) for i in range(0, len(x), 8)]
    return {"data set": pairs, "loader": DataLoader(pairs, batch_size=8), "batches": batches}


NEGATIVE = symmetry.action({"negative": lambda x: -x}, flow=lambda x, t: x * (1 - 2 * t))
CALLS = {
    "landscape.flat_directions": (X, lambda d: landscape.flat_directions(net(), d).rank),
    "landscape.fisher": (X, lambda d: landscape.fisher(net(), d).dense()),
    "landscape.loss_along": (X, lambda d: landscape.loss_along(net(), d, points=3).losses),
    "landscape.match_units": (X, lambda d: landscape.match_units(net(), net(), d).after),
    "landscape.mode_connectivity": (X, lambda d: landscape.mode_connectivity(net(), net(), d, points=3).after.barrier),
    "landscape.parameter_symmetries": (X, lambda d: len(landscape.parameter_symmetries(net(), d).permutable)),
    "tangent.ntk": (X, lambda d: tangent.ntk(net(), d)),
    "tangent.ntk, both": (X, lambda d: tangent.ntk(net(), d, d)),
    "tangent.convergence_rate": (X, lambda d: str(tangent.convergence_rate(net(), d).verdict)),
    "tangent.effective_parameters": (X, lambda d: str(tangent.effective_parameters(net(), d, ridge=0.1).verdict)),
    "tangent.laziness": (X, lambda d: tangent.laziness(net(), net(), d).kernel),
    "tangent.kernel_drift": (X, lambda d: str(tangent.kernel_drift([net(), net()], d).verdict)),
    "tangent.laziness_criterion": (X, lambda d: tangent.laziness_criterion(net(), d, iterations=2, starts=1).value),
    "tangent.step_linearity": (X, lambda d: tangent.step_linearity(net(), d, lr=0.1).error),
    "robustness.invertibility": (X, lambda d: str(robustness.invertibility(net(), d).verdict)),
    "robustness.jacobian_spectrum": (X, lambda d: str(robustness.jacobian_spectrum(net(), d).verdict)),
    "robustness.linear_map": (X, lambda d: str(robustness.linear_map(nn.Linear(3, 2), d).verdict)),
    "robustness.lipschitz_bounds": (X, lambda d: robustness.lipschitz_bounds(net(), d).product),
    "robustness.margin_distribution": (X, lambda d: robustness.margin_distribution(net(), d).smallest),
    "robustness.output_bounds": (X, lambda d: robustness.output_bounds(net(), d, 0.01).low),
    "bounds.layer_noise_tolerance": (X, lambda d: str(bounds.layer_noise_tolerance(net(), d).verdict)),
    "bayes.laplace": (X, lambda d: bayes.laplace(net(), d, prior_precision=1.0).eigenvalues),
    "checks.signal_propagation": (X, lambda d: checks.signal_propagation(net(), d).layers[0].activation),
    "checks.signal_scales": (X, lambda d: str(checks.signal_scales(net(), d).verdict)),
    "checks.unit_activity": (X, lambda d: str(checks.unit_activity(net(), d).verdict)),
    "checks.gradient_check": (X, lambda d: str(checks.gradient_check(net(), d).verdict)),
    "checks.activation_moment_shift": (X, lambda d: str(checks.activation_moment_shift([net(), net()], d).verdict)),
    "checks.label_conflicts": (X, lambda d: str(checks.label_conflicts(d).verdict)),
    "checks.simple_model_baseline": (X, lambda d: checks.simple_model_baseline(d).examples),
    "checks.column_statistics": (X, lambda d: checks.column_statistics(d).count),
    "checks.input_conditioning": (X, lambda d: str(checks.input_conditioning(d).verdict)),
    "attribution.gradient": (X, lambda d: attribution.gradient(net(), d).values),
    "attribution.integrated_gradients": (X, lambda d: attribution.integrated_gradients(net(), d).values),
    "attribution.occlusion": (X, lambda d: attribution.occlusion(net(), d).values),
    "attribution.cam": (IMAGES, lambda d: attribution.cam(vision(), d).values),
    "attribution.grad_cam": (IMAGES, lambda d: attribution.grad_cam(vision(), d).values),
    "attribution.receptive_field": (IMAGES, lambda d: str(attribution.receptive_field(vision(), d).verdict)),
    "attribution.information_plane": (X, lambda d: attribution.information_plane(net(), d).about_input),
    "attribution.invert_layer": (X, lambda d: attribution.invert_layer(net(), "0", d, iterations=3).psnr),
    "attribution.layer_similarity": (X, lambda d: str(attribution.layer_similarity(net(), net(), d).verdict)),
    "attribution.representation_report": (X, lambda d: attribution.representation_report(
        net(), "0", d, transformations=[lambda x: -x], iterations=3).psnr),
    "symmetry.equivariance": (X, lambda d: symmetry.equivariance(net(), d, NEGATIVE).output.invariance),
    "symmetry.invariance": (IMAGES, lambda d: symmetry.invariance(vision(), d).motions[0].change),
    "symmetry.lie_derivative": (X, lambda d: symmetry.lie_derivative(net(), d, NEGATIVE)[0]),
    "sequences.causality": (SERIES, lambda d: str(sequences.causality(nn.Linear(3, 2), d).verdict)),
    "decisions.kkt_residual": (X, lambda d: str(decisions.kkt_residual(nn.Linear(3, 2, bias=False), d).verdict)),
    "decisions.normalized_margin": (X, lambda d: str(decisions.normalized_margin(nn.Linear(3, 2, bias=False), d).verdict)),
    "discovery.distill_equation": (X, lambda d: str(discovery.distill_equation(
        nn.Linear(3, 1), discovery.TermLibrary(degree=1), d).fidelity)[:5]),
    "training.train": (X, lambda d: training.train(net(), d, test=d, steps=2).test_loss),
    "forecast.predict": (X, lambda d: gnomon.predict(net(), d, test=d, times=[1.0]).test_loss),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_all_forms_of_data_give_the_result_of_the_pair(name):
    x, call = CALLS[name]
    torch.manual_seed(0)
    wanted = call((x, Y))
    for data in forms(x).values():
        torch.manual_seed(0)
        found = call(data)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            torch.testing.assert_close(
                torch.as_tensor(found).double(), torch.as_tensor(wanted).double(), rtol=1e-4, atol=1e-5
            )


def test_the_table_names_public_functions_with_data():
    known = dict(options.public_callables())
    assert {name.partition(",")[0] for name in CALLS} <= set(known)
