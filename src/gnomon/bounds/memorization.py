"""Memorization: whether a network can fit random labels, which examples it forgets, and which affect a prediction.

    random-sign correlation  Rad = E sup_f (1 / n) sum_i e_i f(x_i)  >=  2 accuracy on random labels - 1          (1)
    forgetting events of i = times that i is right at one evaluation and wrong at the next
    (2)
    influence of row i on point x:  f(x) - f_{-i}(x) = G(x, i) (y_i - f_{-i}(x_i)),  G = k(x, X) (K + r)^-1        (3)

(1) is for two classes. If all random labels are fitted, Rad is 1 and bounds that count labelings are vacuous. (3) is
exact for kernel regression, and for a wide network with its tangent kernel.

Hypotheses: for (1) a training run as for the true labels; for (3) squared loss and a positive definite kernel.
Reference: [zhang2017understanding] for random labels, [toneva2019empirical] for (2), [koh2017understanding] for (3).

>>> found = Memorization((0, 10, 20), (0.5, 1.0, 1.0), (0.5, 0.8, 1.0), 2)
>>> found.slowdown, found.rademacher
(2.0, 1.0)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.bounds.capacity import RademacherComplexity
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import count_examples
from gnomon.core.inputs.checks import check_integer, check_module, check_number, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import all_inputs, data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.metrics import student_quantile
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Histogram, Interval, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training import Adam, train

__all__ = [
    "ForgettingEvents",
    "Memorization",
    "forgetting_events",
    "kernel_influence",
    "memorization",
    "network_rademacher",
]

EVALUATIONS_PER_RUN = 40
"""Number of evaluations during a run."""


@dataclass(frozen=True, slots=True)
class Memorization(Result):
    """Result: the training accuracy over steps, once with true labels and once with random labels."""

    steps: tuple[int, ...]
    true: tuple[float, ...]
    random: tuple[float, ...]
    classes: int

    @property
    def fitted(self) -> tuple[int | None, int | None]:
        """Returns the first recorded steps at which all true labels and all random labels are fitted; None if never."""
        first = [
            next((s for s, a in zip(self.steps, c, strict=True) if a == 1.0), None) for c in (self.true, self.random)
        ]
        return first[0], first[1]

    @property
    def slowdown(self) -> float | None:
        """Returns the number of steps to fit random labels divided by the number of steps to fit the true labels."""
        true, random = self.fitted
        return None if true is None or random is None else max(random, 1) / max(true, 1)

    @property
    def rademacher(self) -> float | None:
        """Returns a lower bound of the Rademacher complexity (fit of random signs); None unless there are two
        classes.
        """
        return 2 * max(self.random) - 1 if self.classes == 2 else None  # (1)

    @property
    def verdict(self) -> str:
        """States how well the network fitted random labels, in one sentence."""
        share = f"{max(self.random):.1%} of random labels"
        if self.slowdown is None:
            return f"The network fits {max(self.true):.1%} of the true and {share} within {self.steps[-1]} steps."
        return f"The network fits all random labels, {self.slowdown:.2g} times as slowly as true ones: it can memorize."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the training accuracy over steps for true and random labels."""
        lines = (Line("true labels", self.steps, self.true), Line("random labels", self.steps, self.random))
        words = (
            "A network that fits random labels could memorize the data, so its small size does not explain why it "
            "generalizes."
        )
        return (Plot("Random labels", lines, Axis("step"), Axis("training accuracy"), words),)


@add_call_to_errors
@limit_time
def memorization(
    factory: Callable[[int], nn.Module],
    data: Any,
    *,
    steps: int = 400,
    lr: float = 3e-3,
    seed: int = 0,
    budget: float | None = None,
) -> Memorization:
    """Trains one new network on the true labels and one on random labels, and compares their training accuracy.

    See equation (1) of the module docstring.

    Args:
        factory: a function from a seed to a new network.
        data: examples with integer classes.
        steps: number of steps of Adam on all examples.
        lr: its learning rate.
        seed: random seed for the networks and the random labels.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for the module.
    Reference: [zhang2017understanding].
    Cost: two training runs.

    >>> x, y = torch.eye(6), torch.tensor([0, 1, 0, 1, 0, 1])
    >>> found = memorization(lambda seed: nn.Linear(6, 2), (x, y), steps=60, lr=0.3)
    >>> max(found.random), found.rademacher                                # orthogonal inputs: any labels are fitted
    (1.0, 1.0)
    """
    seed, steps = check_seed(seed), check_integer("steps", steps)
    x, y = _classes(data)
    kinds = int(y.max()) + 1
    if kinds < 2:
        raise InputError("all labels are one class", accepted="two classes", fix="Pass examples of several classes")
    drawn = torch.randint(kinds, y.shape, generator=torch.Generator().manual_seed(seed))
    looks = sorted({round(steps * k / EVALUATIONS_PER_RUN) for k in range(EVALUATIONS_PER_RUN + 1)})
    runs = []
    for labels in (y, drawn):
        net = factory(seed)
        check_module(net)

        def right(_step: int, model: nn.Module, _loss: float, labels: Tensor = labels) -> float:
            return float((outputs_in_eval_mode(model, x).argmax(1) == labels).double().mean())

        run = train(net, (x, labels), optimizer=Adam(lr), steps=steps, record=looks, watch={"right": right}, seed=seed)
        runs.append(tuple(float(v) for v in run.raise_if_interrupted().watched["right"]))
    kept = min(map(len, runs))
    return Memorization(tuple(looks[:kept]), runs[0][:kept], runs[1][:kept], kinds)


@dataclass(frozen=True, slots=True, eq=False)
class ForgettingEvents(Result):
    """Result: how often each example was forgotten (correct, then wrong) in training, and whether it was ever
    correct.
    """

    events: Tensor = field(metadata=HIDDEN_IN_JSON)
    learned: Tensor = field(metadata=HIDDEN_IN_JSON)
    steps: int

    @property
    def ranked(self) -> tuple[int, ...]:
        """Returns the indices of all examples, hardest first: never learned ones, then the most often
        forgotten ones.
        """
        score = self.events + (~self.learned) * (int(self.events.max()) + 1)
        return tuple(score.argsort(descending=True, stable=True).tolist())

    @property
    def never(self) -> float:
        """Returns the fraction of examples that were learned and never forgotten."""
        return float((self.learned & (self.events == 0)).double().mean())

    @property
    def verdict(self) -> str:
        """Reports the fraction of examples that are never forgotten once they are correct."""
        return f"{self.never:.1%} of the examples are never forgotten once correct; the others are hard or mislabeled."

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of how often examples were forgotten."""
        marks = (Histogram.of("examples", self.events.double(), bins=20),)
        return (Plot("ForgettingEvents", marks, Axis("times forgotten"), Axis("examples"), self.verdict),)


@add_call_to_errors
def forgetting_events(
    module: nn.Module, data: Any, *, steps: int = 300, batch: int = 32, lr: float = 1e-3, seed: int = 0
) -> ForgettingEvents:
    """Trains a copy of a network and counts how often each example changes from correct to wrong during training.

    See equation (2) of the module docstring.
    Hypotheses: none.
    Reference: [toneva2019empirical].
    Cost: a training run, and a forward pass on all examples at each of forty evaluations.

    >>> x, y = torch.eye(4), torch.tensor([0, 1, 0, 1])
    >>> forgetting_events(nn.Linear(4, 2), (x, y), steps=40, batch=4, lr=0.3).never
    1.0
    """
    check_module(module)
    x, y = _classes(data)
    steps = check_integer("steps", steps)
    looks = sorted({round(steps * k / EVALUATIONS_PER_RUN) for k in range(EVALUATIONS_PER_RUN + 1)})
    seen: list[Tensor] = []

    def look(_step: int, model: nn.Module, _loss: float) -> float:
        seen.append(outputs_in_eval_mode(model, x).argmax(1) == y)
        return 0.0

    size = min(check_integer("batch", batch), len(y))
    rule = Adam(lr)
    run = train(module, (x, y), optimizer=rule, steps=steps, batch=size, record=looks, watch={"look": look}, seed=seed)
    run.raise_if_interrupted()
    right = torch.stack(seen)
    events = (right[:-1] & ~right[1:]).sum(0)  # (2)
    return ForgettingEvents(events, right.any(0), steps)


@add_call_to_errors
def kernel_influence(
    kernel: Float[Tensor, "n n"], y: Float[Tensor, "n k"], cross: Float[Tensor, "m n"], *, ridge: float
) -> Float[Tensor, "m n k"]:
    """Returns the influence of each training example on each prediction: the prediction with minus without the example.

    See equation (3) of the module docstring.
    Hypotheses: kernel regression with this ridge; for wide networks, with the tangent kernel.
    Reference: [koh2017understanding]; [rasmussen2006gaussian], 5.4.2, for the leave-one-out residual.
    Cost: n^3 / 3, then m n k.

    >>> k, y = torch.tensor([[2.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0], [3.0]])
    >>> added = kernel_influence(k, y, torch.tensor([[1.0, 0.0]]), ridge=1e-9)[0, :, 0]
    >>> [round(value, 6) for value in added.tolist()]                                       # row 2 adds nothing
    [0.5, 0.0]
    """
    ridge = check_number("ridge", ridge, above=0)
    inverse = torch.linalg.inv(kernel.double() + ridge * torch.eye(len(kernel), dtype=torch.float64))
    residual = (inverse @ y.double()) / inverse.diagonal()[:, None]  # y_i - f_{-i}(x_i)
    return (cross.double() @ inverse)[:, :, None] * residual  # (3)


@add_call_to_errors
@limit_time
def network_rademacher(
    factory: Callable[[int], nn.Module],
    x: Any,
    *,
    draws: int = 5,
    steps: int = 200,
    lr: float = 3e-3,
    seed: int = 0,
    budget: float | None = None,
) -> RademacherComplexity:
    """Estimates the Rademacher complexity of a network architecture: how well trained networks fit random signs.

    See equation (1) of the module docstring.
    Training does not reach the supremum, so the value is a lower bound of the complexity of the class.

    Args:
        factory: a function from a seed to a new network with two outputs.
        x: inputs.
        draws: number of draws of signs, each with its own network.
        steps: number of steps of Adam on all inputs.
        lr: its learning rate.
        seed: random seed for the first network and its signs; the others follow.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: as for the module.
    Reference: [zhang2017understanding], [bartlett2002rademacher].
    Cost: a training run for each draw.

    >>> found = network_rademacher(lambda seed: nn.Linear(6, 2), torch.eye(6), draws=2, steps=60, lr=0.3)
    >>> found.value                                                        # orthogonal inputs: any signs are followed
    1.0
    """
    inputs = all_inputs(x, factory(seed))
    n, draws = count_examples(inputs), check_integer("draws", draws, least=2)
    reached = []
    for k in with_progress_bar(range(draws), "draws of signs"):
        labels = torch.randint(2, (n,), generator=torch.Generator().manual_seed(seed + k))
        net = factory(seed + k)
        check_module(net)
        run = train(net, (inputs, labels), optimizer=Adam(lr), steps=steps, record=steps, seed=seed + k)
        made = outputs_in_eval_mode(run.raise_if_interrupted().model, inputs)
        if made.shape[1] != 2:
            found = f"the network has {made.shape[1]} outputs"
            raise InputError(found, accepted="two outputs, one for each sign", fix="Give the last layer two outputs")
        reached.append(2 * float((made.argmax(1) == labels).double().mean()) - 1)  # (1)
    values = torch.tensor(reached, dtype=torch.float64)
    mean, half = float(values.mean()), student_quantile(draws - 1) * float(values.std()) / draws**0.5
    return RademacherComplexity(mean, Interval(mean - half, mean + half, 0.95), 1.0, n, draws)


def _classes(data: Any) -> tuple[Any, Tensor]:
    x, y = data_source(data).pair()
    if not are_classes(y) or int(y.min()) < 0:
        found = f"the targets have shape {tuple(y.shape)}, {y.dtype}"
        raise InputError(found, accepted="integer classes 0, 1, ...", fix="Pass y.long() with one class per example")
    return x, y.long()
