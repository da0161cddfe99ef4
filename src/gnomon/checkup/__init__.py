"""First floor: faults of practice in a network and in its training, one file for each, found by short measurements.

Lives here: the last operation against the loss (`head_findings`, `applied`), shapes that broadcast
(`broadcast_findings`), parameters that are never moved (`reach_findings`, `registered_findings`), inputs that are
ignored or scaled inside (`ignored_findings`, `first_given`), outputs that depend on chance or on the batch
(`chance_findings`), saturated units, batch norm, dropout (`saturation_findings`, `normalization_findings`,
`batch_size_findings`, `mode_findings`), learning rate and weight decay (`step_size_findings`, `decay_findings`), where
a run explodes (`explosion`) and how it ended (`outcome_findings`, `number_outcome_findings`), a network that does no
better than a guess (`guessing_findings`, `number_guessing_findings`).
Does not live here: checks of data alone (`gnomon.generalization`), signal propagation (`gnomon.geometry`).
May import: core, the ground floor; torch.
"""

from gnomon.checkup.applied import applied, asks_for_targets
from gnomon.checkup.broadcast import broadcast_findings
from gnomon.checkup.chance import chance_findings
from gnomon.checkup.decay import decay_findings, decay_of
from gnomon.checkup.explosion import Explosion, explosion
from gnomon.checkup.given import first_given
from gnomon.checkup.gradients import GradientCheck, gradient_check
from gnomon.checkup.guessing import guessing_findings, number_guessing_findings
from gnomon.checkup.head import first_of, head_findings
from gnomon.checkup.ignored import ignored_findings
from gnomon.checkup.modes import mode_findings
from gnomon.checkup.normalization import batch_size_findings, normalization_findings
from gnomon.checkup.outcome import Outcome, outcome_findings
from gnomon.checkup.outcome_numbers import number_outcome_findings
from gnomon.checkup.reach import lost_parts, reach_findings
from gnomon.checkup.registered import registered_findings
from gnomon.checkup.saturation import saturation_findings
from gnomon.checkup.settled import settled
from gnomon.checkup.step_size import short_runs, step_size_findings

__all__ = [
    "Explosion",
    "GradientCheck",
    "Outcome",
    "applied",
    "asks_for_targets",
    "batch_size_findings",
    "broadcast_findings",
    "chance_findings",
    "decay_findings",
    "decay_of",
    "explosion",
    "first_given",
    "gradient_check",
    "first_of",
    "guessing_findings",
    "head_findings",
    "ignored_findings",
    "lost_parts",
    "mode_findings",
    "normalization_findings",
    "number_guessing_findings",
    "number_outcome_findings",
    "outcome_findings",
    "reach_findings",
    "registered_findings",
    "saturation_findings",
    "settled",
    "short_runs",
    "step_size_findings",
]
