"""Priors over weights for PAC-Bayes bounds, which must not depend on the examples in the bound.

    P = N(a, diag p^2),    p = deviation / sqrt(inputs of the layer)                                              (1)

`NewWeightsPrior`: a is a new initialization, and all examples count. `LearnedPrior`: a is trained on a share of the
examples, and the others count. `OwnWeightsPrior`: a are the module's own weights, for a module that was trained on
other data.

Hypotheses: none.
Reference: [ambroladze2007tighter] for priors from a part of the data, [dziugaite2021role].

>>> NewWeightsPrior().deviation > LearnedPrior().deviation           # far from the data weights must be free to move
True
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.batch import Batch
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import random_state
from gnomon.training import Adam, train

__all__ = ["AbstractPrior", "NewWeightsPrior", "OwnWeightsPrior", "LearnedPrior"]

MIN_PRIOR_STEPS = 300
"""Minimum number of training steps of a learned prior."""


class AbstractPrior(ABC):
    """Base class of ways to choose the prior over weights, which must not depend on the examples that the
    bound uses.
    """

    deviation: float
    """The ``deviation`` of (1), in units of 1 / sqrt(inputs of the layer)."""
    pace: float = 0.002
    """The learning rate from this prior, in standard deviations: small if the prior is already good."""
    independent: bool | None = True
    """Whether P is independent of the counted examples; None if only the caller knows."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Returns a phrase that says what the prior over weights depends on."""

    @abstractmethod
    def used(self, n: int) -> int:
        """Returns how many of n examples choose the prior over weights, and are therefore left out of the bound."""

    @abstractmethod
    def center(self, module: nn.Module, data: Batch, *, seed: int) -> nn.Module:
        """Returns a module whose weights are the mean of the prior, computed only from examples that the prior may
        use.
        """


@dataclass(frozen=True, slots=True)
class NewWeightsPrior(AbstractPrior):
    """A prior whose mean is a new random initialization of the network.

    >>> NewWeightsPrior().used(1000)
    0
    """

    deviation: float = 1.0
    pace = 0.05

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("deviation", self.deviation, above=0)

    @property
    def words(self) -> str:  # noqa: D102
        return "newly initialized weights, without any example"

    def used(self, n: int) -> int:  # noqa: D102
        return 0

    def center(self, module: nn.Module, data: Batch, *, seed: int) -> nn.Module:  # noqa: D102
        return reinitialized_copy(module, seed)


@dataclass(frozen=True, slots=True)
class LearnedPrior(AbstractPrior):
    """A prior whose mean is trained by Adam on a fraction of the examples, from a new initialization.

    >>> LearnedPrior(share=0.5).used(1000)
    500
    """

    share: float = 0.5
    epochs: int = 10
    lr: float = 2e-3
    batch: int = 100
    deviation: float = 0.1

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("share", self.share, above=0, below=1)
        check_number("deviation", self.deviation, above=0)
        check_integer("epochs", self.epochs)
        check_integer("batch", self.batch)

    @property
    def words(self) -> str:  # noqa: D102
        return f"weights trained on {self.share:.0%} of the examples, which are not counted"

    def used(self, n: int) -> int:  # noqa: D102
        return max(1, round(self.share * n))

    def center(self, module: nn.Module, data: Batch, *, seed: int) -> nn.Module:  # noqa: D102
        batch = min(self.batch, len(data))
        steps = max(MIN_PRIOR_STEPS, self.epochs * -(-len(data) // batch))
        start = reinitialized_copy(module, seed).requires_grad_(True)
        rule = Adam(self.lr)
        run = train(start, (data.x, data.y), optimizer=rule, steps=steps, batch=batch, record=steps, seed=seed)
        return run.raise_if_interrupted().model


@dataclass(frozen=True, slots=True)
class OwnWeightsPrior(AbstractPrior):
    """A prior whose mean is the module's own weights, which must be independent of the examples in the bound.

    >>> OwnWeightsPrior().used(1000)
    0
    """

    deviation: float = 0.1
    independent = None

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("deviation", self.deviation, above=0)

    @property
    def words(self) -> str:  # noqa: D102
        return "the module's own weights, which must be independent of these examples"

    def used(self, n: int) -> int:  # noqa: D102
        return 0

    @add_call_to_errors("certify(module, data)")
    def center(self, module: nn.Module, data: Batch, *, seed: int) -> nn.Module:  # noqa: D102
        return copy_module(module)


def reinitialized_copy(module: nn.Module, seed: int) -> nn.Module:
    """Returns a copy of a module with newly initialized parameters; raises an error if a layer cannot be reset.

    >>> net = nn.Linear(2, 1)
    >>> _ = nn.init.zeros_(net.weight)
    >>> new = reinitialized_copy(net, 0).weight
    >>> bool((new == reinitialized_copy(net, 0).weight).all()), bool((new == net.weight).all())
    (True, False)
    """
    copy = copy_module(module)
    known: set[int] = set()
    with random_state(seed):
        for part in copy.modules():
            reset = getattr(part, "reset_parameters", getattr(part, "_reset_parameters", None))
            if callable(reset):
                reset()
                known |= {id(p) for p in (*part.parameters(), *part.buffers())}
    left: list[str] = [name for name, p in _state(copy) if id(p) not in known]
    if left:
        found = f"'{left[0]}' cannot be reset, and may have been trained on these examples"
        fix = "Give its module reset_parameters(), or pass prior=OwnWeightsPrior() if it never saw these examples"
        raise InputError(found, accepted="a prior that is independent of the examples", fix=fix)
    return copy


def _state(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Returns the parameters and running statistics of a module, without constant buffers."""
    learned = [(name, b) for name, b in module.named_buffers() if "running" in name]
    return [*module.named_parameters(), *learned]
