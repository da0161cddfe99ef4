"""Statements about the tangent kernel of a network, on a training run of it.

>>> callable(constancy)
True
"""

import torch

from gnomon.atlas.check.trial import Trial
from gnomon.core.modules.outputs import outputs
from gnomon.core.results import Axis, Line, Plot, Value
from gnomon.lab import Judgment, Verdict
from gnomon.tangent import alignment, laziness, linearize, ntk
from gnomon.tangent.laziness import MAX_LAZY_CHANGE

__all__ = ["alignment_growth", "constancy", "linearization", "mode_order"]

MIN_LOSS_DECREASE = 0.02
"""Share of its initial value by which the loss must have fallen before a run says anything about training."""


def constancy(trial: Trial) -> Judgment:
    """Whether the tangent kernel stayed as it was: |K_1 - K_0| / |K_0| < 0.1.

    Reference: [jacot2018neural].
    Cost: the kernel of at most 64 examples, twice.

    >>> from gnomon.atlas.check.trial import trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> constancy(trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    moved = laziness(trial.before, trial.after, trial.few.x)
    reason = f"The kernel changed by {moved.kernel:.1%} while the outputs changed by {moved.outputs:.1%}."
    values = (Value("change of the kernel", moved.kernel), Value("change of the outputs", moved.outputs))
    return _of_training(trial, moved.kernel < MAX_LAZY_CHANGE, reason, values)


def alignment_growth(trial: Trial) -> Judgment:
    """Whether the tangent kernel turned towards the targets: its alignment with them grew.

    Reference: [fort2020deep].
    Cost: the kernel of at most 64 examples, twice.

    >>> from gnomon.atlas.check.trial import trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> alignment_growth(trial(linear, (x, x[:, 0]), steps=3)).verdict.name     # it cannot turn
    'REFUTED'
    """
    few = trial.few
    y = trial.table(few.y)
    first, last = (alignment(ntk(model, few.x).double(), y) for model in (trial.before, trial.after))
    reason = f"The alignment of the kernel with the targets went from {first:.3f} to {last:.3f}."
    values = (Value("alignment before", first), Value("alignment after", last))
    return _of_training(trial, last > first, reason, values)


def linearization(trial: Trial) -> Judgment:
    """Whether the network is its linearization at the start: |f_lin - f| / |f - f_0| < 0.1 after training.

    Reference: [lee2019wide].
    Cost: one forward pass and one Jacobian-vector product.

    >>> from gnomon.atlas.check.trial import trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> linearization(trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    x = trial.few.x
    tangent = linearize(trial.before)
    with torch.no_grad():
        for p, trained in zip(tangent.module.parameters(), trial.after.parameters(), strict=True):
            p.copy_(trained)
    start, end, line = (outputs(model, x).double() for model in (trial.before, trial.after, tangent))
    error = float((line - end).norm() / (end - start).norm().clamp_min(1e-300))
    reason = f"The linearized network misses the trained one by {error:.1%} of what training changed."
    return _of_training(trial, error < MAX_LAZY_CHANGE, reason, (Value("error of the linearization", error),))


def mode_order(trial: Trial) -> Judgment:
    """Whether training fitted the leading directions of its first kernel before the others.

    The residual at the end, as a share of that at the start, in the directions that hold 90 % of the kernel's trace is
    less than in the others. Reference: [arora2019fine].
    Cost: the kernel of at most 64 examples, and its eigenvectors.

    >>> from gnomon.atlas.check.trial import trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> mode_order(trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    few = trial.few
    y = trial.table(few.y)
    values, vectors = torch.linalg.eigh(ntk(trial.before, few.x).double())
    values, vectors = values.flip(0).clamp_min(0), vectors.flip(1)
    lead = int((values.cumsum(0) < 0.9 * values.sum()).sum()) + 1
    residuals = []
    for model in (trial.before, trial.after):
        f = outputs(model, few.x).double()
        f = f.softmax(1) if trial.task.classes > 1 and f.shape[1] > 1 else f
        residuals.append((vectors.T @ (y - f)).square().sum(1))
    left = [float((residuals[1][part].sum() / residuals[0][part].sum()).sqrt()) for part in
            (slice(None, lead), slice(lead, None))] if lead < len(values) else [0.0, 0.0]  # fmt: skip
    reason = (
        f"In the {lead} leading directions of the kernel {left[0]:.1%} of the error is left, in the "
        f"{len(values) - lead} others {left[1]:.1%}."
    )
    marks = (Line("error left", range(len(values)), (residuals[1] / residuals[0]).sqrt()),)
    plot = Plot("Error left after training", marks, Axis("direction of the kernel"), Axis("share left", log=True))
    told = (Value("left in leading directions", left[0]), Value("left in the others", left[1]))
    if lead == len(values):
        return Judgment(Verdict.INCONCLUSIVE, "All directions of the kernel are alike on these examples.", told, plot)
    judged = _of_training(trial, left[0] < left[1], reason, told)
    return Judgment(judged.verdict, judged.reason, told, plot)


def _of_training(trial: Trial, holds: bool, reason: str, values: tuple[Value, ...]) -> Judgment:
    """The judgment, or that the run was too short to tell."""
    first, last = float(trial.run.loss[0]), float(trial.run.loss[-1])
    if not last < (1 - MIN_LOSS_DECREASE) * first:
        words = f"The loss went from {first:.4g} to {last:.4g}: too little training to tell. Take more steps."
        return Judgment(Verdict.INCONCLUSIVE, words, values)
    return Judgment(Verdict.HOLDS if holds else Verdict.REFUTED, reason, values)
