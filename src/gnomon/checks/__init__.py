"""Is something wrong with the data, the network, or the run?

Contains: ``data`` (copies, shift, labels, columns, targets), ``network`` (signals, activity, wiring, modes), ``run``
(outcome, learning rate, decay, divergence).
Does not contain: the order of checks and what is reported (`gnomon.examination`).
May import: core, expectations, findings, linalg, program, training.
"""

from gnomon.checks.data.baseline import Baseline, baseline
from gnomon.checks.data.channels import channel_findings
from gnomon.checks.data.columns import Columns, columns
from gnomon.checks.data.conditioning import InputConditioning, input_conditioning
from gnomon.checks.data.conflicts import Conflicts, conflicts
from gnomon.checks.data.leaks import Leaks, leaks
from gnomon.checks.data.shift import Shift, shift
from gnomon.checks.data.suspects import Suspects, suspects
from gnomon.checks.data.targets import class_findings, number_findings
from gnomon.checks.network.activity import UnitActivity, unit_activity
from gnomon.checks.network.applied import applied, asks_for_targets
from gnomon.checks.network.broadcast import broadcast_findings
from gnomon.checks.network.chance import chance_findings
from gnomon.checks.network.depth import DepthAsTime, ode_gap
from gnomon.checks.network.duplicates import UnitDuplicates, unit_duplicates
from gnomon.checks.network.gain import ActivationGain, activation_gain
from gnomon.checks.network.given import first_given
from gnomon.checks.network.gradients import GradientCheck, gradient_check
from gnomon.checks.network.head import first_of, head_findings
from gnomon.checks.network.ignored import ignored_findings
from gnomon.checks.network.layer import Backward, Forward, LayerSignal
from gnomon.checks.network.meanfield import MeanField, critical_weight_std, mean_field
from gnomon.checks.network.modes import mode_findings
from gnomon.checks.network.moments import MomentShift, moment_shift
from gnomon.checks.network.normalization import batch_size_findings, normalization_findings
from gnomon.checks.network.reach import lost_parts, reach_findings
from gnomon.checks.network.registered import registered_findings
from gnomon.checks.network.saturation import saturation_findings
from gnomon.checks.network.scales import SignalScales, signal_scales
from gnomon.checks.network.settled import settled
from gnomon.checks.network.signal import Signal, signal
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.checks.run.decay import decay_findings, decay_of
from gnomon.checks.run.explosion import Explosion, explosion
from gnomon.checks.run.guessing import guessing_findings, number_guessing_findings
from gnomon.checks.run.outcome import Outcome, outcome_findings
from gnomon.checks.run.outcome_numbers import number_outcome_findings
from gnomon.checks.run.step_size import short_runs, step_size_findings

__all__ = [
    "ActivationGain",
    "Backward",
    "Baseline",
    "Columns",
    "Conflicts",
    "DepthAsTime",
    "Explosion",
    "Forward",
    "GradientCheck",
    "InputConditioning",
    "LayerSignal",
    "Leaks",
    "MeanField",
    "MomentShift",
    "Outcome",
    "Shift",
    "Signal",
    "SignalScales",
    "Suspects",
    "UnitActivity",
    "UnitDuplicates",
    "activation_gain",
    "applied",
    "asks_for_targets",
    "baseline",
    "batch_size_findings",
    "broadcast_findings",
    "chance_findings",
    "channel_findings",
    "class_findings",
    "columns",
    "conflicts",
    "critical_weight_std",
    "decay_findings",
    "decay_of",
    "explosion",
    "first_given",
    "first_of",
    "gradient_check",
    "guessing_findings",
    "head_findings",
    "ignored_findings",
    "input_conditioning",
    "leaks",
    "lost_parts",
    "mean_field",
    "mode_findings",
    "moment_shift",
    "normalization_findings",
    "number_findings",
    "number_guessing_findings",
    "number_outcome_findings",
    "ode_gap",
    "outcome_findings",
    "reach_findings",
    "registered_findings",
    "saturation_findings",
    "settled",
    "shift",
    "short_runs",
    "signal",
    "signal_findings",
    "signal_scales",
    "step_size_findings",
    "suspects",
    "unit_activity",
    "unit_duplicates",
]
