"""Checks of a network's tangent kernel during a training run.

>>> callable(check_kernel_change_is_small)
True
"""

import torch

from gnomon.atlas.check.trial import TrainingTrial
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Value
from gnomon.lab import Judgment, Verdict
from gnomon.tangent import alignment, laziness, linearize, ntk
from gnomon.tangent.laziness import MAX_LAZY_CHANGE

__all__ = [
    "check_alignment_growth",
    "check_kernel_change_is_small",
    "check_linearization",
    "check_order_of_learned_eigenvectors",
]

MIN_LOSS_DECREASE = 0.02
"""Share of its initial value by which the loss must have fallen before a run says anything about training."""


def check_kernel_change_is_small(trial: TrainingTrial) -> Judgment:
    """Checks that training changed the network's tangent kernel by less than 10 % (lazy training).

    Reference: [jacot2018neural].
    Cost: the kernel of at most 64 examples, twice.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> check_kernel_change_is_small(train_trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    moved = laziness(trial.before, trial.after, trial.few.x)
    reason = f"The kernel changed by {moved.kernel:.1%} while the outputs changed by {moved.outputs:.1%}."
    values = (Value("change of the kernel", moved.kernel), Value("change of the outputs", moved.outputs))
    return _of_training(trial, moved.kernel < MAX_LAZY_CHANGE, reason, values)


def check_alignment_growth(trial: TrainingTrial) -> Judgment:
    """Checks that training increased the alignment of the network's tangent kernel with the targets.

    Reference: [fort2020deep].
    Cost: the kernel of at most 64 examples, twice.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> check_alignment_growth(train_trial(linear, (x, x[:, 0]), steps=3)).verdict.name     # it cannot turn
    'REFUTED'
    """
    few = trial.few
    y = trial.table(few.y)
    first, last = (alignment(ntk(model, few.x).double(), y) for model in (trial.before, trial.after))
    reason = f"The alignment of the kernel with the targets went from {first:.3f} to {last:.3f}."
    values = (Value("alignment before", first), Value("alignment after", last))
    return _of_training(trial, last > first, reason, values)


def check_linearization(trial: TrainingTrial) -> Judgment:
    """Checks that the trained network differs from its linearization at initialization by less than 10 % of what
    training changed.

    Reference: [lee2019wide].
    Cost: one forward pass and one Jacobian-vector product.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> check_linearization(train_trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    x = trial.few.x
    tangent = linearize(trial.before)
    with torch.no_grad():
        for p, trained in zip(tangent.module.parameters(), trial.after.parameters(), strict=True):
            p.copy_(trained)
    start, end, line = (outputs_in_eval_mode(model, x).double() for model in (trial.before, trial.after, tangent))
    error = float((line - end).norm() / (end - start).norm().clamp_min(1e-300))
    reason = (
        f"The outputs of the linearized network differ from the trained network by {error:.1%} of the change in "
        "training."
    )
    return _of_training(trial, error < MAX_LAZY_CHANGE, reason, (Value("error of the linearization", error),))


def check_order_of_learned_eigenvectors(trial: TrainingTrial) -> Judgment:
    """Checks that training fitted the leading eigenvectors of the initial tangent kernel before the others.

    The residual at the end, as a share of that at the start, in the directions that hold 90 % of the kernel's trace is
    less than in the others. Reference: [arora2019fine].
    Cost: the kernel of at most 64 examples, and its eigenvectors.

    >>> from gnomon.atlas.check.trial import train_trial
    >>> linear, x = torch.nn.Linear(2, 1, bias=False), torch.tensor([[4.0, 0.0], [0.0, 1.0]])
    >>> check_order_of_learned_eigenvectors(train_trial(linear, (x, torch.ones(2)), steps=3)).verdict.name
    'HOLDS'
    """
    few = trial.few
    y = trial.table(few.y)
    values, vectors = torch.linalg.eigh(ntk(trial.before, few.x).double())
    values, vectors = values.flip(0).clamp_min(0), vectors.flip(1)
    lead = int((values.cumsum(0) < 0.9 * values.sum()).sum()) + 1
    residuals = []
    for model in (trial.before, trial.after):
        f = outputs_in_eval_mode(model, few.x).double()
        f = f.softmax(1) if trial.task.classes > 1 and f.shape[1] > 1 else f
        residuals.append((vectors.T @ (y - f)).square().sum(1))
    left = [float((residuals[1][part].sum() / residuals[0][part].sum()).sqrt()) for part in
            (slice(None, lead), slice(lead, None))] if lead < len(values) else [0.0, 0.0]  # fmt: skip
    reason = (
        f"Training left {left[0]:.1%} of the error along the {lead} leading eigenvectors of the kernel, and "
        f"{left[1]:.1%} along the {len(values) - lead} others."
    )
    marks = (Line("error left", range(len(values)), (residuals[1] / residuals[0]).sqrt()),)
    plot = Plot("Error left after training", marks, Axis("direction of the kernel"), Axis("share left", log=True))
    told = (Value("left in leading directions", left[0]), Value("left in the others", left[1]))
    if lead == len(values):
        return Judgment(
            Verdict.INCONCLUSIVE,
            "All eigenvalues of the kernel are equal on these examples, so no eigenvector is learned before another.",
            told,
            plot,
        )
    judged = _of_training(trial, left[0] < left[1], reason, told)
    return Judgment(judged.verdict, judged.reason, told, plot)


def _of_training(trial: TrainingTrial, holds: bool, reason: str, values: tuple[Value, ...]) -> Judgment:
    """Returns the verdict of a check during training, or "inconclusive" if training hardly decreased the loss."""
    first, last = float(trial.run.loss[0]), float(trial.run.loss[-1])
    if not last < (1 - MIN_LOSS_DECREASE) * first:
        words = f"The loss went from {first:.4g} to {last:.4g}: training was too short to decide. Pass more steps."
        return Judgment(Verdict.INCONCLUSIVE, words, values)
    return Judgment(Verdict.HOLDS if holds else Verdict.REFUTED, reason, values)
