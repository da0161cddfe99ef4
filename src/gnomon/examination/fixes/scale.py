"""Possible fixes of scale: standardizes inputs or targets, brings test inputs to the scale of training inputs.

x <- (x - mean) / std    for each column of a table, each channel of an image, or all numbers of other inputs    (1)
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, input_tensors
from gnomon.core.inputs.source import AbstractSource, Batch
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES", "TransformedSource"]

MAX_EXAMPLES = 4096
"""Examples from which means and standard deviations are computed."""

Statistics = list[tuple[Tensor, Tensor] | None]
"""Mean and standard deviation for each tensor of the inputs; None for integers."""


class StandardizedInputs(nn.Module):
    """Wraps a module so that its real-valued inputs are standardized first.

    See equation (1) of the module docstring.

    >>> net = StandardizedInputs(nn.Identity(), [(torch.tensor([1.0]), torch.tensor([2.0]))])
    >>> net(torch.tensor([[5.0]])).item()
    2.0
    """

    def __init__(self, module: nn.Module, statistics: Statistics) -> None:
        super().__init__()
        self.module, self.training = module, module.training
        self.known = [pair is not None for pair in statistics]
        for i, pair in enumerate(statistics):
            if pair is not None:
                self.register_buffer(f"mean{i}", pair[0])
                self.register_buffer(f"std{i}", pair[1])

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Standardizes the inputs, then runs the wrapped module."""
        place = iter(range(len(self.known)))

        def standardize(value: Any) -> Any:
            if not isinstance(value, Tensor) or not value.dim():
                return value
            i = next(place, len(self.known))
            if i >= len(self.known) or not self.known[i]:
                return value
            return (value - getattr(self, f"mean{i}")) / getattr(self, f"std{i}")  # (1)

        return self.module(*map(standardize, args), **{name: standardize(value) for name, value in kwargs.items()})


class TransformedSource(AbstractSource):
    """A data source that applies functions to the inputs or targets of another data source.

    >>> from gnomon.core.inputs.source import data_source
    >>> TransformedSource(data_source((torch.ones(2, 1), torch.zeros(2))), targets=lambda y: y + 3).labels().tolist()
    [3.0, 3.0]
    """

    def __init__(
        self,
        source: AbstractSource,
        inputs: Callable[[Inputs], Inputs] | None = None,
        targets: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.source, self.module, self.inputs, self.targets = source, source.module, inputs, targets

    def __len__(self) -> int:
        return len(self.source)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        return (self._map(batch) for batch in self.source.batches(size))

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return self._map(self.source.at(index))

    def _map(self, batch: Batch) -> Batch:
        x = batch.x if self.inputs is None else self.inputs(batch.x)
        return Batch(x, batch.y if self.targets is None or batch.y is None else self.targets(batch.y))


def standardize_inputs(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: standardizes inputs by the mean and standard deviation of the training set.

    See equation (1) of the module docstring.
    """
    found = input_statistics(trial.train.probe(MAX_EXAMPLES, seed=0).x)
    if not any(pair is not None for pair in found):
        return ()
    axes = next(t.dim() for t in input_tensors(subject.probe.x) if t.is_floating_point())
    over = {2: "0", 4: "(0, 2, 3)"}.get(axes, "")
    keep = ", keepdim=True" if axes == 4 else ""
    code = f"mean, std = x_train.mean({over}{keep}), x_train.std({over}{keep}).clamp(min=1e-8)\n"
    code += "x_train, x_test = (x_train - mean) / std, (x_test - mean) / std"
    changed = replace(trial, module=StandardizedInputs(trial.module, found))
    return (TrialChange(changed, "standardized inputs", diff("", code)),)


def standardize_targets(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: standardizes targets by the mean and standard deviation of the training targets."""
    y = trial.train.labels()
    if y is None or not y.is_floating_point() or subject.task.classes:
        return ()
    mean, std = y.mean(0), y.std(0).clamp(min=1e-30)

    def convert(targets: Tensor) -> Tensor:
        return (targets - mean.to(targets)) / std.to(targets)  # (1)

    batches = trial.batches
    if batches.loader is not None:
        batches = replace(batches, loader=TransformedSource(batches.loader, targets=convert))
    train, test = (TransformedSource(data, targets=convert) for data in (trial.train, trial.test))
    code = "mean, std = y_train.mean(0), y_train.std(0)\ny_train = (y_train - mean) / std\n"
    code += "prediction = model(x) * std + mean"
    return (
        TrialChange(replace(trial, train=train, test=test, batches=batches), "standardized targets", diff("", code)),
    )


def match_test_scale(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: shifts and scales test inputs to the mean and standard deviation of the training inputs."""
    given, wanted = (input_statistics(data.probe(MAX_EXAMPLES, seed=0).x) for data in (trial.test, trial.train))
    if not any(pair is not None for pair in wanted) or trial.test is trial.train:
        return ()

    def convert(x: Inputs) -> Inputs:
        pairs = iter(zip(given, wanted, strict=True))

        def one(value: Any) -> Any:
            if not isinstance(value, Tensor) or not value.dim():
                return value
            own, other = next(pairs)
            return value if own is None or other is None else (value - own[0]) / own[1] * other[1] + other[0]

        if isinstance(x, Tensor):
            return one(x)
        if isinstance(x, Mapping):
            return {name: one(value) for name, value in x.items()}
        return tuple(map(one, x)) if isinstance(x, tuple | list) else x

    code = "x_test = (x_test - x_test.mean(0)) / x_test.std(0) * x_train.std(0) + x_train.mean(0)"
    changed = replace(trial, test=TransformedSource(trial.test, convert))
    return (TrialChange(changed, "test inputs on the scale of train", diff("", code), trains=False),)


def input_statistics(x: Inputs) -> Statistics:
    """Computes the mean and standard deviation of each input tensor, for standardizing; None for integer tensors.

    >>> mean, std = input_statistics(torch.tensor([[1.0, 5.0], [3.0, 5.0]]))[0]
    >>> mean.tolist(), std.tolist()                                       # a constant column is only centered
    ([2.0, 5.0], [1.0, 1.0])
    """
    found: Statistics = []
    for t in input_tensors(x):
        if not t.is_floating_point():
            found.append(None)
            continue
        axes = {1: [0], 2: [0], 4: [0, 2, 3]}.get(t.dim(), list(range(t.dim() - 1)))
        mean = t.mean(axes, keepdim=t.dim() == 4)
        std = t.std(axes, correction=0, keepdim=t.dim() == 4)
        if t.dim() == 4:
            mean, std = mean[0], std[0]
        found.append((mean, torch.where(std > 1e-12 * mean.abs().clamp(min=1e-30), std, torch.ones_like(std))))
    return found


FIXES = (
    Fix("standardize-inputs", standardize_inputs),
    Fix("standardize-targets", standardize_targets),
    Fix("match-test-scale", match_test_scale),
)
