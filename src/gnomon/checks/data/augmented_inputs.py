"""Checks whether augmented training inputs still resemble the inputs on which the network is evaluated.

Augmentation changes training inputs only. If it changes their scale, it does a preprocessing that test inputs lack:

    ratio = std(augmented) / std(given),    shift = |mean(augmented) - mean(given)| / std(given)              (1)

If it destroys what decides the target, a simple model loses its skill on augmented inputs:

    kept = skill(augmented) / skill(given),    skill = (score - guess) / (1 - guess)                          (2)

with the scores of one kind of simple model, fitted and judged on augmented or on given inputs.

Hypotheses: inputs are real numbers in one tensor.

>>> g = torch.Generator().manual_seed(0)
>>> y = torch.arange(300) % 3
>>> x = torch.eye(3)[y] + 0.1 * torch.randn(300, 3, generator=g)
>>> augmented_input_findings(x, (x - 0.5) / 0.05, y)[0].kind
'augmentation-normalizes'
>>> augmented_input_findings(x, x + 0.05 * torch.randn(300, 3, generator=g), y)
()
"""

import torch
from torch import Tensor

from gnomon.checks.data.baseline import simple_model_baseline
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import loading as kinds

__all__ = ["augmented_input_findings"]

MAX_SCALE_RATIO = 2.0
"""Ratio (1) of the standard deviations that an augmentation may reach; crops, flips and noise stay below 1.5."""
MAX_SHIFT = 1.0
"""Shift (1) of the mean that an augmentation may reach."""
MIN_SKILL = 0.5
"""Skill of the simple model on given inputs that is needed to judge (2)."""
MIN_KEPT = 0.5
"""Share (2) of the skill that must be kept. Random crops, flips and noise of usual size keep 0.6 or more."""


def augmented_input_findings(x: Inputs, augmented: Inputs, y: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if augmentation changes the scale of the inputs, or removes the information that determines the
    target.

    ``x`` are the inputs as given, ``augmented`` the same inputs after augmentation, ``y`` classes or numbers.
    Cost: two ridge regressions.

    >>> augmented_input_findings(torch.zeros(5, 2), torch.ones(5, 2), torch.zeros(5, 1))             # a constant input
    ()
    """
    if not isinstance(x, Tensor) or not isinstance(augmented, Tensor) or not x.is_floating_point():
        return ()
    spread = float(x.double().std())
    if not spread > 0 or not bool(augmented.isfinite().all()):
        return ()
    ratio = float(augmented.double().std()) / spread
    shift = abs(float(augmented.double().mean() - x.double().mean())) / spread  # (1)
    if ratio > MAX_SCALE_RATIO or ratio < 1 / MAX_SCALE_RATIO or shift > MAX_SHIFT:
        values = {"mean": float(x.mean()), "std": spread, "other_mean": float(augmented.mean())}
        values["other_std"] = ratio * spread
        return (Finding(kinds.AUGMENTATION_SCALE, "inputs", values, (Value("ratio of the spreads", ratio),), 0.0),)
    guess = 0.0 if y.is_floating_point() else float(torch.bincount(y.flatten().long()).max()) / len(y)
    scores = [simple_model_baseline((inputs, y)) for inputs in (x, augmented)]
    if guess >= 1 or not scores[0].examples:
        return ()
    given, after = ((found.score - guess) / (1 - guess) for found in scores)
    if given < MIN_SKILL or after >= MIN_KEPT * given:  # (2)
        return ()
    values = {"given": scores[0].score, "after": max(scores[1].score, 0.0)}
    evidence = (Value("kept share of the skill", after / given),)
    return (Finding(kinds.AUGMENTATION_DESTROYS, "inputs", values, evidence),)
