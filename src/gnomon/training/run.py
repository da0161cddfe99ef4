"""A training run as a record: losses and accuracies at recorded steps, what was watched, the trained model.

>>> import torch
>>> from gnomon.training import SGD, Squared, train
>>> run = train(nn.Linear(1, 1), torch.ones(2, 1), torch.zeros(2), loss=Squared(), optimizer=SGD(0.25), steps=3)
>>> run.steps.tolist(), run.times.tolist()
([0, 1, 2, 3], [0.0, 0.25, 0.5, 0.75])
>>> bool((run.loss[1:] / run.loss[:-1] - 0.25).abs().max() < 1e-5)          # (1 - lr (x^2 + 1))^2
True
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.core.record import Record
from gnomon.training.optimizers import AbstractOptimizer

REASONS = {
    "finished": "",
    "time": " It was stopped by its time budget.",
    "interrupted": " It was interrupted: the record is complete up to its last step.",
}
"""What the verdict says of each way to stop, but for divergence."""


@dataclass(frozen=True, slots=True, eq=False)
class Run(Record):
    """What training did, at the steps that were recorded; all values are measured in eval mode.

    ``loss`` and ``test_loss`` are means over points; accuracies are None where the targets are no classes. ``train``
    and ``test`` are the outputs (t, n, k), where they were asked for. ``stopped`` is "finished", "time",
    "interrupted" or "diverged", and ``model`` is the one of the last recorded step in every case. ``watched`` holds, by
    name, what each watcher returned at each recorded step.
    """

    model: nn.Module = field(repr=False)
    steps: Int[Tensor, " t"]
    times: Float[Tensor, " t"]
    loss: Float[Tensor, " t"]
    test_loss: Float[Tensor, " t"] | None
    accuracy: Float[Tensor, " t"] | None
    test_accuracy: Float[Tensor, " t"] | None
    train: Tensor | None = field(repr=False)
    test: Tensor | None = field(repr=False)
    watched: Mapping[str, list[Any]] = field(repr=False)
    loss_name: str
    optimizer: AbstractOptimizer
    stopped: str
    seconds: float

    @property
    def diverges(self) -> bool:
        """Whether the loss left the range of floats, or ended above its start."""
        return self.stopped == "diverged" or bool(self.loss[-1] > self.loss[0])

    @property
    def verdict(self) -> str:
        """One sentence or two on how training went."""
        way = f"{self.optimizer.name} with learning rate {self.optimizer.lr:.3g}"
        change = f"the {self.loss_name} from {float(self.loss[0]):.3g} to {float(self.loss[-1]):.3g}"
        head = f"{way[0].upper()}{way[1:]} took {change} in {int(self.steps[-1])} steps ({self.seconds:.2g} s)"
        if self.accuracy is not None:
            head += f", {float(self.accuracy[-1]):.1%} right"
        if self.test_loss is not None:
            right = "" if self.test_accuracy is None else f", {float(self.test_accuracy[-1]):.1%} right"
            head += f"; on test points {float(self.test_loss[-1]):.3g}{right}"
        if self.stopped == "diverged":
            return f"{head}. Then it diverged: the loss is no longer a finite number; use a smaller learning rate."
        return f"{head}.{REASONS[self.stopped]}"

    def __str__(self) -> str:
        return self.verdict

    def to_dict(self) -> dict[str, object]:
        """Everything but the model and the outputs, as plain values for JSON."""
        curves = ("steps", "times", "loss", "test_loss", "accuracy", "test_accuracy", "watched")
        return {name: _plain(getattr(self, name)) for name in curves} | {
            "loss_name": self.loss_name,
            "optimizer": self.optimizer.name,
            "lr": self.optimizer.lr,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "verdict": self.verdict,
        }

    def plot_data(self) -> dict[str, object]:
        """Curves over time as plain lists, for any drawing tool."""
        lines = {"train": self.loss.tolist()}
        if self.test_loss is not None:
            lines["test"] = self.test_loss.tolist()
        return {"x": self.times.tolist(), "x_label": "time (learning rate x steps)", "y_label": self.loss_name,
                "lines": lines}  # fmt: skip

    def plot(self, axes: Any = None) -> Any:
        """Draw the losses over time with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt  # slow to import, and needed by this method alone

            axes = plt.subplots(layout="constrained")[1]
        data: Any = self.plot_data()
        for (name, values), color in zip(data["lines"].items(), ("#b5367a", "#3b6fb5"), strict=False):
            axes.plot(data["x"][1:], values[1:], label=name, color=color)
        axes.set(xscale="log", yscale="log", xlabel=data["x_label"], ylabel=data["y_label"])
        axes.legend()
        return axes


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return _plain(value.to_dict()) if hasattr(value, "to_dict") else str(value)
