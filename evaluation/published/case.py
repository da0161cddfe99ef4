"""A published case: a training recipe, with or without a fault, and where it comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn, optim

from evaluation.published.scores import default_score

Harm = Literal["worse", "inflated"]
"""What a fault does to the test score: it lowers the score, or it makes the score look better than it is."""


def adam(lr: float = 1e-3, weight_decay: float = 0.0) -> Callable[[Any], optim.Optimizer]:
    """Adam with this learning rate, as a function of the parameters."""
    return lambda parameters: optim.Adam(parameters, lr=lr, weight_decay=weight_decay)


def sgd(lr: float, momentum: float = 0.0, weight_decay: float = 0.0) -> Callable[[Any], optim.Optimizer]:
    """SGD with this learning rate, as a function of the parameters."""
    return lambda parameters: optim.SGD(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that a user would pass to `gnomon.examine`, and how a plain loop scores the trained network."""

    network: Callable[[], nn.Module]
    train: tuple[Any, Tensor]
    test: tuple[Any, Tensor]
    optimizer: Callable[[Any], optim.Optimizer] = adam()
    batch: int = 32
    epochs: int = 20
    loss: Callable[[Tensor, Tensor], Tensor] | None = None
    schedule: Callable[[optim.Optimizer], Any] | None = None
    augment: Callable[[Tensor], Tensor] | None = None
    task: str | None = None
    columns: tuple[str, ...] = ()
    score: Callable[[Tensor, Tensor], float] = default_score
    score_batch: int = 200  # test examples per call of the network

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `gnomon.examine`."""
        given = {"loss": self.loss, "schedule": self.schedule, "augment": self.augment, "task": self.task}
        given |= {"columns": self.columns or None}
        needed = {"optimizer": self.optimizer, "batch": self.batch, "epochs": self.epochs}
        return needed | {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCase:
    """One case; ``build`` returns the recipe and, for a fault, the recipe with the fault removed.

    A fault counts as verified if removing it changes the test score by at least ``margin`` in the direction that
    ``harm`` says. A healthy case counts as verified if a plain loop reaches ``score``.
    """

    id: str
    kind: Literal["faulty", "healthy"]
    source: str
    cause: str
    fix: str
    build: Callable[[], tuple[Recipe, Recipe | None]]
    harm: Harm = "worse"
    margin: float = 0.05
    score: float = 0.0


def faulty(id: str, source: str, *, fix: str, harm: Harm = "worse", margin: float = 0.05):
    """Makes a faulty case of a function that returns the faulty and the fixed recipe; its docstring is the cause."""

    def decorate(build: Callable[[], tuple[Recipe, Recipe]]) -> PublishedCase:
        cause = " ".join((build.__doc__ or "").split())
        return PublishedCase(
            id=id, kind="faulty", source=source, cause=cause, fix=fix, build=build, harm=harm, margin=margin
        )

    return decorate


def healthy(id: str, source: str, *, score: float):
    """Makes a healthy case of a function that returns a recipe; its docstring says what is trained."""

    def decorate(build: Callable[[], Recipe]) -> PublishedCase:
        about = " ".join((build.__doc__ or "").split())
        return PublishedCase(
            id=id, kind="healthy", source=source, cause=about, fix="", build=lambda: (build(), None), score=score
        )

    return decorate
