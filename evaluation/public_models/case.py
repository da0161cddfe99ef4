"""A case: a public architecture, data for it, and the training that its users write themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torch import Tensor, nn
from torch.optim import Adam, Optimizer


class Reading(StrEnum):
    """What a network learns, as `gnomon.examine` should read it."""

    CLASS = "one class for each example"
    CLASS_PER_POSITION = "one class for each position"
    CLASS_PER_PIXEL = "one class for each pixel"
    CLASS_PER_NODE = "one class for each node"
    LABELS = "several labels for each example"
    NUMBERS = "numbers"
    OWN_LOSS = "whatever the user's loss compares"
    MODEL_LOSS = "the loss that the model computes"


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Training and test data in the form in which users of the model have them; both are passed on unchanged.

    ``scored`` are batches for the score, if there is no separate test data.
    """

    train: Any
    test: Any
    scored: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One public architecture, used unmodified.

    ``build`` makes the network. ``data`` is a function of a seed. ``batch_loss(model, batch)`` is what a user's own loop
    minimizes, and ``answers(model, batch)`` returns predictions and targets, which ``score`` turns into points
    between 0 and 100. ``loss`` is what is passed to `gnomon.examine`, only if users of the model write a loss
    themselves. ``readings`` are all correct readings; ``classes`` is the
    number of classes, or 0 for numbers. ``known_findings`` are kinds of problems that really are there.
    """

    id: str
    kind: str
    source: str
    license: str
    build: Callable[[], nn.Module]
    data: Callable[[int], Data]
    readings: tuple[Reading, ...]
    batch_loss: Callable[[nn.Module, Any], Tensor]
    answers: Callable[[nn.Module, Any], tuple[Tensor, Tensor]]
    score: Callable[[Tensor, Tensor], float]
    optimizer: Callable[[Any], Optimizer] = Adam
    loss: Callable[[Any, Any], Tensor] | None = None
    batch: int = 32
    classes: int = 0
    rewritten: bool = False
    known_findings: tuple[str, ...] = ()
