"""Stores measurements of a training run at its recorded steps, and a copy of the model at the last one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import NotFiniteError
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Curves
from gnomon.training.evaluate import Objective
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.run import TrainingRun

__all__ = ["Watcher"]

Watcher = Callable[[int, nn.Module, float], Any]
"""Called at each recorded step with its number, the model in eval mode, and the training loss."""


@dataclass(frozen=True, slots=True)
class Log:
    """Measurements of a training run, one row per recorded step, with the model's tensors at the last recorded step."""

    model: nn.Module
    objective: Objective
    test: Objective | None
    batch: int | None
    watch: Mapping[str, Watcher]
    outputs: bool
    rows: list[dict[str, Any]]
    state: list[Tensor]

    def record(self, step: int) -> bool:
        """Measures the model and stores a row; returns False and stores nothing if a loss is not finite."""
        if self.rows and self.rows[-1]["step"] == step:
            return True
        loss, right, f = self.objective.measure(self.model, self.batch)
        row: dict[str, Any] = {"step": step, "loss": loss, "accuracy": right, "train": f if self.outputs else None}
        if self.test is not None:
            row["test_loss"], row["test_accuracy"], f = self.test.measure(self.model, self.batch)
            row["test"] = f if self.outputs else None
        if not isfinite(loss) or not isfinite(row.get("test_loss", 0.0)):
            if step == 0:
                fix = "Look for NaN in the weights, or lower the scale of the weights or of the inputs"
                what = "the loss is not finite before the first step"
                raise NotFiniteError(what, accepted="a finite loss", fix=fix)
            return False
        with preserve(self.model):
            row["watched"] = {name: watcher(step, self.model, loss) for name, watcher in self.watch.items()}
        self.state[:] = [t.detach().clone() for t in _tensors(self.model)]
        self.rows.append(row)
        return True

    @torch.no_grad()
    def restore(self) -> None:
        """Sets the model's tensors back to their values at the last recorded step."""
        for now, then in zip(_tensors(self.model), self.state, strict=True):
            now.copy_(then)

    def run(self, optimizer: AbstractOptimizer, stopped: str, seconds: float, epochs: float) -> TrainingRun:
        """Collects the measurements of the whole training run in a `TrainingRun` object."""
        steps = torch.tensor([row["step"] for row in self.rows])
        curves = Curves(
            times=steps.double() * optimizer.lr,
            loss=torch.tensor([row["loss"] for row in self.rows], dtype=torch.float64),
            loss_name=self.objective.name,
            test_loss=self._column("test_loss"),
            accuracy=self._column("accuracy"),
            test_accuracy=self._column("test_accuracy"),
            train=self._stack("train"),
            test=self._stack("test"),
        )
        watched = {name: [row["watched"][name] for row in self.rows] for name in self.watch}
        return TrainingRun(self.model, steps, curves, watched, optimizer, stopped, seconds, epochs)

    def _column(self, key: str) -> Tensor | None:
        values = [row.get(key) for row in self.rows]
        return None if values[0] is None else torch.tensor(values, dtype=torch.float64)

    def _stack(self, key: str) -> Tensor | None:
        return None if self.rows[0].get(key) is None else torch.stack([row[key] for row in self.rows])


def _tensors(model: nn.Module) -> list[Tensor]:
    return [*model.parameters(), *model.buffers()]
