"""Default arguments of the instruments of geometry: pages and stored reports rely on them."""

import importlib
import inspect

import pytest

from gnomon.robustness.attacks import (
    APGD,
    FGSM,
    PGD,
    Closest,
    DeepFool,
    MinimumNorm,
    Sampled,
    Shrinking,
    Square,
    TargetedAPGD,
)
from gnomon.robustness.robust import robust_accuracy

DEFAULTS = {
    "attacks.apgd.APGD": {"steps": 100, "restarts": 1},
    "attacks.apgd.TargetedAPGD": {"steps": 100, "targets": 9},
    "attacks.closest.Closest": {"group": 50},
    "attacks.closest.Sampled": {"group": 50},
    "attacks.deepfool.DeepFool": {"steps": 50, "classes": 10, "overshoot": 0.02},
    "attacks.gradient.PGD": {"steps": 40, "step": 0.1, "restarts": 1},
    "attacks.minimum.MinimumNorm": {"steps": 100, "restarts": 1},
    "attacks.minimum.drawn_back": {"steps": 12},
    "attacks.run.attack": {"bounds": (0, 1)},
    "attacks.run.minimal_distance": {"bounds": (0, 1)},
    "attacks.shrinking.Shrinking": {"steps": 60, "restarts": 18, "widths": (5.0, 2.0, 1.0), "patience": 2},
    "attacks.square.Square": {"queries": 5000, "share": 0.8},
    "attacks.universal.universal_perturbation": {"bounds": (0, 1), "steps": 100},
    "calibration.calibration": {"bins": 10, "level": 0.01},
    "certificates.bounds.linear_bounds": {"most": 4096},
    "certificates.bounds.output_bounds": {"bounds": (0, 1), "most": 4096},
    "certificates.proofs.Crown": {"most": 4096},
    "certificates.smoothing.smoothed_radius": {"sigma": 0.25, "samples": 1000, "confidence": 0.999},
    "depth.ode_gap": {"refine": 4},
    "distances.noise_sensitivity": {"draws": 20},
    "jacobian.jacobian_spectrum": {"examples": 32},
    "lipschitz.network.lipschitz_bounds": {"search": 30},
    "neurons.neuron_distance": {"layer": 0, "exponent": 0.5, "directions": 200},
    "preflight.preflight": {"bounds": (0, 1)},
    "regions.ball.patterns_in_ball": {"points": 2000},
    "regions.exact.maximal_regions": {"layers": 1},
    "regions.exact.regions_in_plane": {"radius": 1.0, "pixels": 120},
    "regularity.label_regularity": {"bins": 20},
    "separation.linear_capacity": {"draws": 40},
    "supremum.sup_distance": {"points": 4096},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_stay_as_they_were(name):
    module, function = name.rsplit(".", 1)
    found = inspect.signature(getattr(importlib.import_module(f"gnomon.geometry.{module}"), function)).parameters
    assert {key: found[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


def test_the_attacks_of_robust_accuracy_stay_as_they_were():
    *gradients, sampled = inspect.signature(robust_accuracy).parameters["attacks"].default
    assert gradients == [
        FGSM(),
        PGD(steps=10, step=0.25),
        APGD(steps=40),
        Closest(Shrinking(), 100),
        Closest(TargetedAPGD(steps=40, targets=4), 50),
        Closest(TargetedAPGD(steps=60, targets=9), 20),
    ]
    assert sampled == Sampled(Square(queries=1000), (Square(queries=5000),), 50)


def test_attacks_made_without_arguments_have_these_settings():
    assert Shrinking().widths == (5.0, 2.0, 1.0)
    assert (Shrinking().steps, Shrinking().restarts, Shrinking().patience) == (60, 18, 2)
    assert (Square().queries, Square().share) == (5000, 0.8)
    assert (PGD().steps, PGD().step, PGD().restarts) == (40, 0.1, 1)
    assert (APGD().steps, TargetedAPGD().steps, TargetedAPGD().targets) == (100, 100, 9)
    assert (DeepFool().steps, DeepFool().classes, DeepFool().overshoot) == (50, 10, 0.02)
    assert MinimumNorm().steps == 100 and Closest(FGSM()).group == 50 and Sampled(FGSM(), ()).group == 50
