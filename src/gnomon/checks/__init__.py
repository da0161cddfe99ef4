"""Checks that look for problems of the data, the network, and the training run.

Contains: ``data`` (copies, shift, labels, columns, targets), ``network`` (signals, activity, wiring, modes), ``run``
(outcome, learning rate, decay, divergence).
Does not contain: the order of checks and what is reported (`gnomon.examination`).
May import: adapter, core, expectations, findings, linalg, program, training.
"""

from gnomon.checks.data.baseline import simple_model_baseline
from gnomon.checks.data.columns import column_statistics
from gnomon.checks.data.conditioning import input_conditioning
from gnomon.checks.data.conflicts import label_conflicts
from gnomon.checks.data.leaks import find_leaks
from gnomon.checks.data.shift import data_shift
from gnomon.checks.data.suspects import suspect_labels
from gnomon.checks.network.activity import unit_activity
from gnomon.checks.network.depth import ode_gap
from gnomon.checks.network.duplicates import unit_duplicates
from gnomon.checks.network.gain import activation_gain
from gnomon.checks.network.gradients import gradient_check
from gnomon.checks.network.meanfield import critical_weight_std, mean_field
from gnomon.checks.network.moments import moment_shift
from gnomon.checks.network.scales import signal_scales
from gnomon.checks.network.signal import signal
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
    "moment_shift",
    "ode_gap",
    "data_shift",
    "signal",
    "signal_scales",
    "suspect_labels",
    "unit_activity",
    "unit_duplicates",
]
