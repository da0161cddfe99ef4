"""Checks that look for problems of the data, the network, and the training run.

Contains: ``data`` (copies, shift, labels, columns, targets), ``network`` (signals, activity, wiring, modes), ``run``
(outcome, learning rate, decay, divergence).
Does not contain: the order of checks and what is reported (`gnomon.examination`).
May import: adapter, core, expectations, findings, linalg, program, training.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.checks.data.baseline import simple_model_baseline
    from gnomon.checks.data.columns import column_statistics
    from gnomon.checks.data.conditioning import input_conditioning
    from gnomon.checks.data.conflicts import label_conflicts
    from gnomon.checks.data.leaks import find_leaks
    from gnomon.checks.data.shift import data_shift
    from gnomon.checks.data.suspects import suspect_labels
    from gnomon.checks.network.activity import unit_activity
    from gnomon.checks.network.depth import residual_network_ode_gap
    from gnomon.checks.network.duplicates import unit_duplicates
    from gnomon.checks.network.gain import activation_gain
    from gnomon.checks.network.gradients import gradient_check
    from gnomon.checks.network.meanfield import critical_weight_std, mean_field
    from gnomon.checks.network.moments import activation_moment_shift
    from gnomon.checks.network.scales import signal_scales
    from gnomon.checks.network.signal import signal_propagation
    from gnomon.checks.run.explosion import find_explosion

__all__ = [
    "activation_gain",
    "simple_model_baseline",
    "column_statistics",
    "label_conflicts",
    "critical_weight_std",
    "find_explosion",
    "gradient_check",
    "input_conditioning",
    "find_leaks",
    "mean_field",
    "activation_moment_shift",
    "residual_network_ode_gap",
    "data_shift",
    "signal_propagation",
    "signal_scales",
    "suspect_labels",
    "unit_activity",
    "unit_duplicates",
]

_HOMES = {
    "simple_model_baseline": "data.baseline",
    "column_statistics": "data.columns",
    "input_conditioning": "data.conditioning",
    "label_conflicts": "data.conflicts",
    "find_leaks": "data.leaks",
    "data_shift": "data.shift",
    "suspect_labels": "data.suspects",
    "unit_activity": "network.activity",
    "residual_network_ode_gap": "network.depth",
    "unit_duplicates": "network.duplicates",
    "activation_gain": "network.gain",
    "gradient_check": "network.gradients",
    "critical_weight_std": "network.meanfield",
    "mean_field": "network.meanfield",
    "activation_moment_shift": "network.moments",
    "signal_scales": "network.scales",
    "signal_propagation": "network.signal",
    "find_explosion": "run.explosion",
}
"""The modules that define these names."""


def __getattr__(name: str) -> Any:
    """Imports a submodule when one of its names is first used, so that `gnomon watch` imports only its own checks."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gnomon.checks' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gnomon.checks.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
