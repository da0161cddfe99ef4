"""First floor: what data promise for examples that were not seen.

Lives here: checks of data without a network, each with its false-alarm rate: test examples that are copies of training
examples (`leaks`), test examples drawn differently (`shift`), labels that look wrong (`suspects`), equal inputs with
different labels (`conflicts`), columns and targets that training stumbles over (`columns`, `number_findings`,
`class_findings`); what a simple model reaches, and what more data bring it (`baseline`).
Does not live here: anything about a network's layers (`gnomon.geometry`) or its training (`gnomon.checkup`).
May import: core, the ground floor; torch.
"""

from gnomon.generalization.baseline import Baseline, baseline
from gnomon.generalization.columns import Columns, columns
from gnomon.generalization.conditioning import InputConditioning, input_conditioning
from gnomon.generalization.conflicts import Conflicts, conflicts
from gnomon.generalization.gap import GeneralizationGap, generalization_gap
from gnomon.generalization.leaks import Leaks, leaks
from gnomon.generalization.noise_fit import NoiseFit, noise_fit
from gnomon.generalization.shift import Shift, shift
from gnomon.generalization.suspects import Suspects, suspects
from gnomon.generalization.targets import class_findings, number_findings

__all__ = [
    "Baseline",
    "Columns",
    "Conflicts",
    "GeneralizationGap",
    "InputConditioning",
    "Leaks",
    "NoiseFit",
    "Shift",
    "Suspects",
    "baseline",
    "class_findings",
    "columns",
    "conflicts",
    "generalization_gap",
    "input_conditioning",
    "leaks",
    "noise_fit",
    "number_findings",
    "shift",
    "suspects",
]
