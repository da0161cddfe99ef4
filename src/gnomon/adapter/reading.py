"""Describes what a network's outputs mean, as data and as one English sentence.

>>> OutputMeaning("language model", positions=64, classes=101).sentence
'read as a language model: 64 positions, 101 tokens, cross-entropy over positions'
"""

from dataclasses import dataclass
from typing import Literal

from gnomon.adapter.losses import AbstractLossWithAxes

__all__ = ["TASKS", "OutputMeaning", "TaskName"]

TaskName = Literal[
    "class",
    "numbers",
    "language model",
    "class per position",
    "class per pixel",
    "class per node",
    "ensemble",
    "labels",
    "model loss",
]
"""What a network can be read as."""

TASKS: tuple[str, ...] = TaskName.__args__  # type: ignore[attr-defined]
"""The values of ``task=``."""


@dataclass(frozen=True, slots=True)
class OutputMeaning:
    """Describes what a network's outputs mean: the task, the numbers of positions and classes, and the matching loss.

    ``positions`` counts positions, pixels or members of the ensemble; ``loss`` is None if the usual losses fit, for one
    class or some numbers per example. ``given`` says that the user named the task.
    """

    task: TaskName
    positions: int = 1
    classes: int = 0
    numbers: int = 0
    shift: int = 0
    loss: AbstractLossWithAxes | None = None
    given: bool = False

    @property
    def unit(self) -> str:
        """Names the thing that gets one prediction: "example", "token", "pixel", "position" or "node"."""
        if self.task == "language model":
            return "token"
        return self.task.removeprefix("class per ") if self.task.startswith("class per ") else "example"

    @property
    def target(self) -> str:
        """Describes in words what the network predicts at each position, such as "10 classes" or "one number"."""
        if self.classes:
            return f"{self.classes} classes"
        return "one number" if self.numbers == 1 else f"{self.numbers} numbers"

    @property
    def goal(self) -> str:
        """Describes in words what the network learns, such as "predict 3 numbers"."""
        return _GOALS[self.task].format(reading=self)

    @property
    def sentence(self) -> str:
        """Says in one sentence what the network's outputs mean."""
        return f"read as {_DESCRIPTIONS[self.task].format(reading=self)}" + (" (as given)" if self.given else "")


_DESCRIPTIONS: dict[str, str] = {
    "class": "classification: {reading.classes} classes, one per example",
    "numbers": "regression: {reading.target} per example",
    "language model": "a language model: {reading.positions} positions, {reading.classes} tokens, "
    "cross-entropy over positions",
    "class per position": "classification of positions: {reading.positions} positions, {reading.classes} classes, "
    "cross-entropy over positions",
    "class per pixel": "classification of pixels: {reading.positions} pixels, {reading.classes} classes, "
    "cross-entropy over pixels",
    "class per node": "classification of nodes: up to {reading.positions} nodes in a graph, {reading.classes} classes, "
    "cross-entropy over nodes",
    "ensemble": "an ensemble of {reading.positions} members, each with its own loss: {reading.target}",
    "labels": "several labels for each example: {reading.numbers} answers, yes or no, sigmoid cross-entropy",
    "model loss": "a model that computes its own loss from its inputs",
}

_GOALS: dict[str, str] = {
    "class": "distinguish {reading.classes} classes",
    "numbers": "predict {reading.target}",
    "language model": "predict one of {reading.classes} tokens at each of {reading.positions} positions",
    "class per position": "distinguish {reading.classes} classes at each of {reading.positions} positions",
    "class per pixel": "distinguish {reading.classes} classes at each of {reading.positions} pixels",
    "class per node": "distinguish {reading.classes} classes at each node",
    "ensemble": "predict {reading.target} with each of {reading.positions} members",
    "labels": "decide which of {reading.numbers} labels an example has",
    "model loss": "lower the loss that it computes itself",
}
