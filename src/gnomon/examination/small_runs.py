"""Small measurements for a network with poor results: its loss before training, one batch, the first steps.

>>> import torch
>>> from gnomon.examination.subject import build_subject
>>> data = torch.randn(40, 3), torch.arange(40) % 2
>>> first_loss_findings(build_subject(torch.nn.Linear(3, 2), data, None, seed=0))
()
"""

from functools import partial

from gnomon.adapter.users_loss import call_user_loss
from gnomon.checks.run.initial_loss import initial_loss_findings
from gnomon.checks.run.one_batch import fit_one_batch, one_batch_findings
from gnomon.core.errors import GnomonError
from gnomon.core.losses import AbstractLoss, CrossEntropy
from gnomon.core.results import Finding
from gnomon.examination.subject import Subject
from gnomon.training.optimizers import AbstractOptimizer

__all__ = ["batch_findings", "first_loss_findings"]

CHECKED_EXAMPLES = 128
"""Examples on which the loss before training is measured."""


def first_loss_findings(subject: Subject) -> tuple[Finding, ...]:
    """Reports a problem if the loss before training is far from the loss of guessing all classes equally.

    Cost: a forward pass.

    >>> import torch
    >>> from gnomon.examination.subject import build_subject
    >>> first_loss_findings(build_subject(torch.nn.Linear(2, 1), (torch.ones(3, 2), torch.ones(3, 1)), None, seed=0))
    ()
    """
    some, loss = subject.probe.some(CHECKED_EXAMPLES), subject.recipe.own_loss
    if not subject.task.classes:
        return ()
    if loss is None or isinstance(loss, AbstractLoss):
        if not isinstance(subject.task.loss, CrossEntropy):
            return ()
        return initial_loss_findings(subject.outputs(some.x), some.y, loss=None)
    return initial_loss_findings(subject.outputs(some.x), some.y, loss=partial(call_user_loss, loss))


def batch_findings(subject: Subject, optimizer: AbstractOptimizer) -> tuple[Finding, ...]:
    """Reports a problem if the network cannot memorize a few examples.

    Cost: at most three runs of 200 steps on 8 examples.

    >>> import torch
    >>> from gnomon.examination.subject import build_subject
    >>> from gnomon.training import Adam
    >>> examined = build_subject(torch.nn.Linear(2, 1), (torch.ones(3, 2), torch.ones(3, 1)), None, seed=0)
    >>> batch_findings(examined, Adam(0.1))  # too few examples
    ()
    """
    if not (subject.task.classes or subject.asks_for_targets) or not subject.trainable:
        return ()
    some = subject.probe.some(4 * CHECKED_EXAMPLES)
    try:
        found = fit_one_batch(
            subject.module, some.x, some.y, loss=subject.loss, optimizer=optimizer, targets=subject.loss_targets
        )
    except (GnomonError, RuntimeError, TypeError, ValueError):  # Training on 8 examples raises an error here.
        return ()
    return one_batch_findings(found)
