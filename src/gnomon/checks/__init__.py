"""Checks for problems of the data, the network, and the training run.

Contains: ``data`` (copies, shift, labels, columns, targets), ``network`` (signals, activity, wiring, modes), ``run``
(outcome, learning rate, decay, divergence).
Does not contain: the order of checks and what is reported (`gnomon.examination`).
May import: core, expectations, findings, linalg, program, training.
"""

from gnomon.checks.data.baseline import baseline
from gnomon.checks.data.columns import columns
from gnomon.checks.data.conditioning import input_conditioning
from gnomon.checks.data.conflicts import conflicts
from gnomon.checks.data.leaks import leaks
from gnomon.checks.data.shift import shift
from gnomon.checks.data.suspects import suspects
from gnomon.checks.network.activity import unit_activity
from gnomon.checks.network.depth import ode_gap
from gnomon.checks.network.duplicates import unit_duplicates
from gnomon.checks.network.gain import activation_gain
from gnomon.checks.network.gradients import gradient_check
from gnomon.checks.network.meanfield import critical_weight_std, mean_field
from gnomon.checks.network.moments import moment_shift
from gnomon.checks.network.scales import signal_scales
from gnomon.checks.network.signal import signal
from gnomon.checks.run.explosion import explosion

__all__ = [
    "activation_gain",
    "baseline",
    "columns",
    "conflicts",
    "critical_weight_std",
    "explosion",
    "gradient_check",
    "input_conditioning",
    "leaks",
    "mean_field",
    "moment_shift",
    "ode_gap",
    "shift",
    "signal",
    "signal_scales",
    "suspects",
    "unit_activity",
    "unit_duplicates",
]
