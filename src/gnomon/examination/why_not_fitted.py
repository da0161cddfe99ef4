"""Looks in a network's design for the reason why the network fits worse than a simple model.

These designs are fine in a network that fits its task, so they are looked for only in one that does not.
"""

from gnomon.checks.network.bottleneck import bottleneck_findings
from gnomon.checks.network.linear_network import linear_network_findings
from gnomon.checks.network.places import early_pooling_findings, padding_findings, token_order_findings
from gnomon.checks.network.step_functions import step_function_findings
from gnomon.checks.network.without_biases import missing_bias_findings
from gnomon.checks.run.schedule import planned_learning_rates, schedule_findings
from gnomon.core.results import Finding
from gnomon.examination.good_results import MIN_AVOIDED_ERROR, avoided_error
from gnomon.examination.subject import Subject
from gnomon.findings import design
from gnomon.training import TrainingRun

__all__ = ["design_findings", "is_poor"]

MAX_NAMED_LAYERS = 4
"""Layers named in a message, at most."""
CHECKED_EXAMPLES = 64
"""Examples on which the design is checked."""


def is_poor(score: float, guess: float) -> bool:
    """Checks whether an accuracy or an explained variance is far from perfect.

    >>> is_poor(0.95, 0.5), is_poor(0.6, 0.5)
    (False, True)
    """
    return avoided_error(score, guess) < MIN_AVOIDED_ERROR


def design_findings(subject: Subject, run: TrainingRun, *, fits: bool, poor: bool) -> tuple[Finding, ...]:
    """Reports design problems of a trained network that fits worse than a simple model.

    ``fits`` says that it reached what a simple model reaches, ``poor`` that it makes many errors. Sequences are hard
    for the simple model, so that errors alone are a reason to look.
    Cost: a dozen forward passes.

    >>> import torch
    >>> from gnomon.examination.subject import build_subject
    >>> from gnomon.training import train
    >>> data = torch.randn(40, 2), torch.arange(40) % 2
    >>> run = train(torch.nn.Linear(2, 2), data, steps=2)
    >>> network = build_subject(torch.nn.Linear(2, 2), data, None, seed=0)
    >>> [finding.kind for finding in design_findings(network, run, fits=False, poor=False)]
    ['no-activation']
    """
    x, found = subject.probe.some(CHECKED_EXAMPLES).x, list[Finding]()
    if poor:
        found += [*token_order_findings(run.model, x), *padding_findings(run.model, x)]
    if not fits:
        found += [*linear_network_findings(run.model, x), *missing_bias_findings(run.model, x)]
        found += [*bottleneck_findings(run.model, x), *early_pooling_findings(run.model, x)]
        found += [
            *step_function_findings(subject.module, run.model, x),
            *_frozen_layer_findings(subject),
            *_schedule_findings(subject, run),
        ]
    return tuple(found)


def _frozen_layer_findings(subject: Subject) -> tuple[Finding, ...]:
    """Reports frozen layers that keep the network from fitting its training data."""
    frozen = [(name, p.numel()) for name, p in subject.module.named_parameters() if not p.requires_grad]
    owners = list(dict.fromkeys(name.rpartition(".")[0] for name, _ in frozen))
    if not frozen or not subject.trainable:
        return ()
    names = ", ".join(f"'{name}'" for name in owners[:MAX_NAMED_LAYERS])
    values = {"names": names, "size": sum(size for _, size in frozen)}
    return (Finding(design.FROZEN_AND_POOR, owners[0], values, (), 0.0),)


def _schedule_findings(subject: Subject, run: TrainingRun) -> tuple[Finding, ...]:
    recipe = subject.recipe
    epochs = recipe.epochs or round(run.epochs)
    if recipe.schedule is None or epochs < 1:
        return ()
    return schedule_findings(planned_learning_rates(recipe.schedule, run.optimizer.lr, epochs), base=run.optimizer.lr)
