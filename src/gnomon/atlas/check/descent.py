"""Checks two statements on gradient descent with a user's network: curvature stays below 2 / lr, and margins grow.

>>> callable(check_edge_of_stability)
True
"""

from torch import nn

from gnomon.atlas.check.trial import TrainingTrial
from gnomon.core.results import Axis, Line, Plot, Value
from gnomon.decisions.homogeneous import homogeneity_degree
from gnomon.lab import Judgment, Verdict
from gnomon.landscape import sharpness

__all__ = ["check_margin_growth", "check_edge_of_stability"]

EDGE_SLACK = 0.2
"""Share above 2 / lr up to which curvature counts as at the edge of stability."""


def check_edge_of_stability(trial: TrainingTrial) -> Judgment:
    """Checks that the curvature of the loss (largest Hessian eigenvalue) after training is at most 2 / learning rate,
    plus 20 %.

    Reference: [cohen2021gradient].
    Cost: about 25 Hessian-vector products.

    >>> import torch
    >>> from torch import nn
    >>> from gnomon.atlas.check.trial import train_trial
    >>> check_edge_of_stability(train_trial(nn.Linear(2, 1, bias=False), (torch.eye(2), torch.ones(2)),
    ...     steps=3)).verdict.name
    'HOLDS'
    """
    if any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in trial.before.modules()):
        words = (
            "Training uses the batch statistics of batch norm, and the curvature is measured with its running "
            "statistics."
        )
        return Judgment(Verdict.INCONCLUSIVE, f"{words} The two losses differ, so the statement cannot be checked.")
    y = trial.task.loss_targets(trial.examples.y)
    last = float(sharpness(trial.after, (trial.examples.x, y), loss=trial.task.loss).value)
    limit = 2 / trial.lr
    reason = (
        f"The sharpness (largest eigenvalue of the Hessian of the loss) went from {trial.sharpness:.4g} to "
        f"{last:.4g}; 2 / learning rate is {limit:.4g}."
    )
    values = (Value("curvature at the end", last), Value("2 / learning rate", limit, obtained="upper bound"))
    if trial.run.diverges:
        return Judgment(Verdict.REFUTED, f"{reason} Training diverged.", values)
    return Judgment(Verdict.HOLDS if last <= (1 + EDGE_SLACK) * limit else Verdict.REFUTED, reason, values)


def check_margin_growth(trial: TrainingTrial) -> Judgment:
    """Checks that the smallest margin, relative to the size of the weights, grows after training fits all examples.

    For networks with f(c w) = c^L f(w) only, which is measured first. Reference: [lyu2020gradient].
    Cost: three forward passes; the margins were recorded during training.

    >>> import torch
    >>> from torch import nn
    >>> from gnomon.atlas.check.trial import train_trial
    >>> net = nn.Linear(2, 1, bias=False)
    >>> net.weight.data = torch.tensor([[1.0, -0.1]])
    >>> check_margin_growth(train_trial(net, (torch.eye(2), torch.tensor([1, 0])), steps=20)).verdict.name
    'HOLDS'
    """
    if not trial.margins:
        return Judgment(Verdict.INCONCLUSIVE, "The targets are not classes, so margins are not defined.")
    found = homogeneity_degree(trial.after, trial.few.x)
    if found is None:
        words = "The network is not homogeneous in its weights (biases, normalization or curved activations)."
        return Judgment(Verdict.INCONCLUSIVE, f"{words} The statement does not apply to this network.")
    fitted = [margin / norm**found for margin, norm in trial.margins if margin > 0]
    if len(fitted) < 3:
        words = "Training ended too soon after the network had fitted all examples. Pass more steps."
        return Judgment(Verdict.INCONCLUSIVE, words, (Value("degree", found),))
    reason = (
        f"The smallest margin, divided by the size of the weights, went from {fitted[0]:.3g} to "
        f"{fitted[-1]:.3g} (degree {found})."
    )
    plot = Plot("Normalized margin", (Line("margin", range(len(fitted)), fitted),), Axis("record"), Axis("margin"))
    values = (Value("first", fitted[0]), Value("last", fitted[-1]), Value("degree", found))
    return Judgment(Verdict.HOLDS if fitted[-1] > fitted[0] else Verdict.REFUTED, reason, values, plot)
