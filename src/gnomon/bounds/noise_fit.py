"""Tests whether training fits correct labels before wrong ones, by the accuracy on both over the training steps.

    clean(t) = share of examples with true labels that are fitted,   noise(t) = share of wrong labels that are     (1)

Early in training clean is high and noise low; stopping at the largest difference keeps the signal and leaves noise.
Hypotheses: it is known which labels are wrong, for example because they were corrupted on purpose.
Reference: [arpit2017closer].

>>> LabelNoiseFit((0, 10, 20), (0.5, 0.9, 1.0), (0.1, 0.2, 1.0)).best
10
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_targets, check_module_is_callable
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.training import train
from gnomon.training.torch_optimizers import OptimizerChoice

__all__ = ["LabelNoiseFit", "label_noise_fit"]


@dataclass(frozen=True, slots=True)
class LabelNoiseFit(Result):
    """Result: the fractions of correct labels and of wrong labels that the network fits at each recorded step."""

    steps: tuple[int, ...]
    clean: tuple[float, ...]
    noise: tuple[float, ...]

    @property
    def best(self) -> int:
        """Returns the step at which the network fits most correct labels but few wrong ones (largest difference)."""
        ahead = [a - b for a, b in zip(self.clean, self.noise, strict=True)]
        return self.steps[ahead.index(max(ahead))]

    @property
    def verdict(self) -> str:
        """States when correct labels were fitted, and how many wrong labels were fitted at the end."""
        i = self.steps.index(self.best)
        return (
            f"Best step: {self.best}. There, {self.clean[i]:.0%} of the clean and {self.noise[i]:.0%} of the wrong "
            f"labels are "
            f"fitted; at the end {self.noise[-1]:.0%} of the wrong ones."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fractions of fitted correct and wrong labels over the steps."""
        marks = (Line("clean labels", self.steps, self.clean), Line("wrong labels", self.steps, self.noise),
                 Reference("best", float(self.best), vertical=True))  # fmt: skip
        return (Plot("Signal before noise", marks, Axis("step"), Axis("share fitted", limits=(0, 1)), self.verdict),)


@add_call_to_errors
def label_noise_fit(
    module: nn.Module,
    data: Any,
    *,
    clean: Any,
    steps: int = 500,
    optimizer: OptimizerChoice | None = None,
    batch: int | None = None,
    seed: int = 0,
) -> LabelNoiseFit:
    """Trains a copy of a network on partly wrong labels and records which labels it fits at each step.

    See equation (1) of the module docstring.

    Args:
        module: an untrained network; left as it was.
        data: as in `gnomon.train`.
        clean: for each example whether its label is true, a mask.
        steps: number of steps of training; ``optimizer``, ``batch`` and ``seed`` as in `gnomon.train`.
        optimizer: see ``steps``.
        batch: see ``steps``.
        seed: see ``steps``.

    Hypotheses: see the module. Reference: [arpit2017closer].
    Cost: a training run, and a forward pass at each record.

    >>> net, x = nn.Linear(2, 2), torch.randn(20, 2)
    >>> mask = torch.arange(20) > 3
    >>> result = label_noise_fit(net, (x, (x[:, 0] > 0).long()), clean=mask, steps=5)
    >>> len(result.steps) == len(result.clean)
    True
    """
    check_module_is_callable(module)
    inputs, labels = data_source(data, module=module).pair()
    mask = as_targets(clean, len(labels)).bool()
    if labels.is_floating_point() or mask.all() or not mask.any():
        found = "the targets are not classes" if labels.is_floating_point() else "all labels are of one kind"
        raise InputError(
            found,
            accepted="class labels, of which some are wrong and some are right",
            fix="Pass the labels, and in `clean` a mask of the labels that are right",
        )

    def right(_: int, model: nn.Module, __: float) -> Tensor:
        f = outputs_in_eval_mode(model, inputs)
        decided = (f[:, 0] > 0).long() if f.shape[1] == 1 else f.argmax(1)
        fitted = (decided == labels).double()
        return torch.stack([fitted[mask].mean(), fitted[~mask].mean()])  # (1)

    run = train(
        module, (inputs, labels), optimizer=optimizer, steps=steps, batch=batch, seed=seed, watch={"fit": right}
    )
    rows = torch.stack(run.raise_if_interrupted().watched["fit"])
    return LabelNoiseFit(tuple(run.steps.tolist()), tuple(rows[:, 0].tolist()), tuple(rows[:, 1].tolist()))
