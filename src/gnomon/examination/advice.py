"""Gives advice for a network that fits its training examples badly, based on its layers, its optimizer and its training
run.

>>> from gnomon.training import train
>>> x = torch.eye(4)
>>> run = train(nn.Linear(4, 2), (x, torch.tensor([0, 1, 0, 1])), steps=5)
>>> advice_for_underfit(run.model, run, examples=4)[:56]
'Train longer: the run had only 5 steps. Use smaller batc'
"""

import torch
from torch import nn

from gnomon.checks.run.decay import weight_decay_of
from gnomon.training import TrainingRun

__all__ = ["advice_for_underfit"]

FEW_STEPS = 300
"""Steps below which a run is called short."""
STILL_FALLING = 0.1
"""Share of the fall of the loss in the second half of the steps from which training is not over."""
LARGE_BATCH_SHARE = 0.25
"""Share of the examples in a batch from which smaller batches give many more steps."""
HIGH_DROPOUT = 0.4
"""Smallest dropout rate that is called high."""
HIGH_DECAY = {True: 0.1, False: 1e-3}
"""Smallest weight decay that is called high, if it is decoupled from the gradient or not."""
BOUNDED = {nn.Sigmoid: "sigmoid", nn.Tanh: "tanh"}
"""Activations with flat ends, through which gradients become small."""
MANY_BOUNDED = 3
"""Number of such layers from which ReLU is worth trying."""
MOST_SENTENCES = 3
"""Sentences of the advice, at most."""


def advice_for_underfit(model: nn.Module, run: TrainingRun, *, examples: int) -> str:
    """Returns advice for a network that fits its training examples badly, as a few sentences; the most likely remedy
    comes first.

    Cost: a walk over the layers.

    >>> from gnomon.training import train
    >>> net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9), nn.Linear(4, 2))
    >>> run = train(net, (torch.eye(4), torch.tensor([0, 1, 0, 1])), steps=2)
    >>> "dropout rate, now 0.9" in advice_for_underfit(run.model, run, examples=4)
    True
    """
    steps = int(run.steps[-1])
    said = [*_length(run, steps, examples), *_layers(model), *_optimizer(run)]
    return " ".join(said[:MOST_SENTENCES]) or _larger(model)


def _length(run: TrainingRun, steps: int, examples: int) -> list[str]:
    """Returns advice about the number of training steps and the batch size, for a network that fits badly."""
    said = []
    half = int((run.steps <= steps / 2).sum()) - 1
    fall = float(run.loss[0] - run.loss[-1])
    late = float(run.loss[max(half, 0)] - run.loss[-1])
    if 0 < steps < FEW_STEPS:
        said.append(f"Train longer: the run had only {steps} step{'s' if steps > 1 else ''}.")
    elif fall > 0 and late > STILL_FALLING * fall:
        said.append(f"Train longer: {late / fall:.0%} of the fall of the loss came in the second half of the steps.")
    batch = run.epochs * examples / max(1, steps)
    if batch >= LARGE_BATCH_SHARE * examples and steps < FEW_STEPS:
        said.append(f"Use smaller batches, for example of 32 instead of {batch:.0f} of {examples:,} examples.")
    return said


def _layers(model: nn.Module) -> list[str]:
    """Returns advice about saturating activations and dropout, for a network that fits badly."""
    said = []
    for kind, name in BOUNDED.items():
        count = sum(isinstance(part, kind) for part in model.modules())
        if count >= MANY_BOUNDED:
            said.append(f"Use ReLU instead of {name} in the {count} hidden layers.")
    rates = [part.p for part in model.modules() if isinstance(part, nn.modules.dropout._DropoutNd)]
    if max(rates, default=0.0) >= HIGH_DROPOUT:
        said.append(f"Lower the dropout rate, now {max(rates):g}.")
    return said


def _optimizer(run: TrainingRun) -> list[str]:
    """Returns advice about weight decay and plain gradient descent, for a network that fits badly."""
    decay, apart = weight_decay_of(getattr(run.optimizer, "optimizer", run.optimizer))
    said = [f"Lower weight_decay, now {decay:g}."] if decay >= HIGH_DECAY[apart] else []
    if run.optimizer.name == "SGD":
        said.append(f"Use another learning rate than {run.optimizer.lr:.3g}, momentum, or Adam.")
    return said


def _larger(model: nn.Module) -> str:
    size = sum(p.numel() for p in model.parameters() if isinstance(p, torch.Tensor))
    return f"Use more units or layers (now {size:,} parameters), or layers that suit the inputs better."
