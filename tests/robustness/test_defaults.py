"""Default arguments of the instruments: pages and stored reports rely on them."""

import importlib
import inspect

import pytest

from gnomon.robustness.attacks import (
    APGD,
    FGSM,
    PGD,
    DeepFool,
    MinimumNormAttack,
    MostVulnerableFirst,
    SampleFirst,
    ShrinkingSteps,
    SquareAttack,
    TargetedAPGD,
)
from gnomon.robustness.robust import robust_accuracy

DEFAULTS = {
    "robustness.attacks.apgd.APGD": {"steps": 100, "restarts": 1},
    "robustness.attacks.apgd.TargetedAPGD": {"steps": 100, "targets": 9},
    "robustness.attacks.attack_order.MostVulnerableFirst": {"group": 50},
    "robustness.attacks.attack_order.SampleFirst": {"group": 50},
    "robustness.attacks.deepfool.DeepFool": {"steps": 50, "classes": 10, "overshoot": 0.02},
    "robustness.attacks.gradient.PGD": {"steps": 40, "step": 0.1, "restarts": 1},
    "robustness.attacks.minimum.MinimumNormAttack": {"steps": 100, "restarts": 1},
    "robustness.attacks.minimum.bisect_to_boundary": {"steps": 12},
    "robustness.attacks.run.attack": {"bounds": (0, 1)},
    "robustness.attacks.run.minimal_distance": {"bounds": (0, 1)},
    "robustness.attacks.shrinking.ShrinkingSteps": {
        "steps": 60,
        "restarts": 18,
        "widths": (5.0, 2.0, 1.0),
        "patience": 2,
    },
    "robustness.attacks.square.SquareAttack": {"queries": 5000, "share": 0.8},
    "robustness.attacks.universal.universal_perturbation": {"bounds": (0, 1), "iterations": 100},
    "decisions.calibration.calibration": {"bins": 10, "level": 0.01},
    "robustness.certificates.bounds.linear_bounds": {"max_linear_units": 4096},
    "robustness.certificates.bounds.output_bounds": {"bounds": (0, 1), "max_linear_units": 4096},
    "robustness.certificates.proofs.CrownProof": {"max_linear_units": 4096},
    "robustness.certificates.smoothing.smoothed_radius": {"sigma": 0.25, "draws": 1000, "confidence": 0.95},
    "checks.network.depth.residual_network_ode_gap": {"refine": 4},
    "robustness.distances.noise_sensitivity": {"draws": 20},
    "robustness.jacobian.jacobian_spectrum": {"examples": 32},
    "robustness.lipschitz.network.lipschitz_bounds": {"search": 30},
    "attribution.neurons.neuron_distance": {"layer": 0, "exponent": 0.5, "directions": 200},
    "robustness.preflight.preflight": {"bounds": (0, 1)},
    "robustness.regions.ball.patterns_in_ball": {"draws": 2000},
    "robustness.regions.exact.maximal_regions": {"layers": 1},
    "robustness.regions.exact.regions_in_plane": {"radius": 1.0, "pixels": 120},
    "attribution.regularity.label_regularity": {"bins": 20},
    "decisions.separation.linear_capacity": {"draws": 40},
    "robustness.supremum.supremum_distance": {"points": 4096},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_stay_as_they_were(name):
    module, function = name.rsplit(".", 1)
    found = inspect.signature(getattr(importlib.import_module(f"gnomon.{module}"), function)).parameters
    assert {key: found[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


def test_the_attacks_of_robust_accuracy_stay_as_they_were():
    *gradients, sampled = inspect.signature(robust_accuracy).parameters["attacks"].default
    assert gradients == [
        FGSM(),
        PGD(steps=10, step=0.25),
        APGD(steps=40),
        MostVulnerableFirst(ShrinkingSteps(), 100),
        MostVulnerableFirst(TargetedAPGD(steps=40, targets=4), 50),
        MostVulnerableFirst(TargetedAPGD(steps=60, targets=9), 20),
    ]
    assert sampled == SampleFirst(SquareAttack(queries=1000), (SquareAttack(queries=5000),), 50)


def test_attacks_made_without_arguments_have_these_settings():
    assert ShrinkingSteps().widths == (5.0, 2.0, 1.0)
    assert (ShrinkingSteps().steps, ShrinkingSteps().restarts, ShrinkingSteps().patience) == (60, 18, 2)
    assert (SquareAttack().queries, SquareAttack().share) == (5000, 0.8)
    assert (PGD().steps, PGD().step, PGD().restarts) == (40, 0.1, 1)
    assert (APGD().steps, TargetedAPGD().steps, TargetedAPGD().targets) == (100, 100, 9)
    assert (DeepFool().steps, DeepFool().classes, DeepFool().overshoot) == (50, 10, 0.02)
    assert (
        MinimumNormAttack().steps == 100
        and MostVulnerableFirst(FGSM()).group == 50
        and SampleFirst(FGSM(), ()).group == 50
    )
