"""Certifies a classifier: trains a distribution of its weights to minimize an error bound, then computes the bound.

    minimize over m, s    quadratic(mean of min(-ln p(label), b) / b, KL, n),    b = ln(1 / P_LEAST)             (1)

by stochastic gradients, with new weights drawn for each batch. The error r of the distribution on the counted examples
is a mean over draws of weights, each evaluated on some examples; r is replaced by its upper confidence bound, which
uses a part of delta.

Hypotheses: independent examples; integer classes.
Reference: [perez2021tighter] for (1), [maurer2009empirical] for the bound of the mean over draws.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.bounds.bound import GeneralizationErrorBound
from gnomon.bounds.pacbayes.certificate import ErrorCertificate
from gnomon.bounds.pacbayes.inequalities import (
    bernstein_upper_bound,
    catoni_bound,
    inverse_kl,
    mcallester_bound,
    quadratic_bound,
    seeger_bound,
)
from gnomon.bounds.pacbayes.posterior import GaussianWeights
from gnomon.bounds.pacbayes.prior import AbstractPrior, LearnedPrior
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.batch import Batch
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import Progress, with_progress_bar
from gnomon.core.metrics import binomial_interval
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.modules.preserve import preserve, set_mode
from gnomon.core.results import Hypothesis, QuantityDefinition, Value

__all__ = ["certify"]

P_LEAST = 1e-4
"""Smallest probability in the training loss, which bounds the loss."""
DELTA_SHARE_FOR_DRAWS = 0.2
"""Share of delta that is spent on the mean over draws of weights."""
EXAMPLES_PER_DRAW = 32
"""Examples on which each draw of weights is evaluated."""
MIN_COUNTED_EXAMPLES = 20
"""Minimum number of examples in the bound."""
VOTING_DRAWS = 40
"""Draws of weights whose majority and mean are measured on test examples."""
EXAMPLES_PER_PASS = 512
"""Examples in one pass of that measurement."""


@dataclass(frozen=True, slots=True)
class _Means:
    """Two mean errors over random weights, the error rate and 1 - p(label), each with an upper bound."""

    error: float
    error_bound: float
    linear: float
    linear_bound: float


@add_call_to_errors
@limit_time
def certify(
    module: nn.Module,
    data: Any,
    *,
    test: Any = None,
    prior: AbstractPrior | None = None,
    confidence: float = 0.95,
    epochs: int = 5,
    lr: float | None = None,
    batch: int = 250,
    draws: int = 20_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    budget: float | None = None,
) -> ErrorCertificate:
    """Computes an upper bound on the test error of a network with random weights, at the given confidence.

    See equation (1) of the module docstring.
    The module is not changed. Its weights are used only with ``prior=OwnWeightsPrior()``, because a certificate must
    start from weights that are independent of the examples. The certificate is for ``certificate.posterior``, a
    distribution over the weights.

    Args:
        module: any classifier with a class for each output and Linear or convolution layers.
        data: a pair (inputs, classes), a ``Dataset``, a ``DataLoader``, as `gnomon.examine` takes them.
        test: test examples, on which the certified network is measured for comparison.
        prior: `LearnedPrior`, the default, trained on half of the examples; `NewWeightsPrior`; `OwnWeightsPrior`.
        confidence: the probability that the bound holds, 1 - delta.
        epochs: passes over all examples to fit the distribution.
        lr: learning rate of Adam in units of the prior's standard deviation; by default the prior's ``pace``.
        batch: examples for each draw of weights while fitting.
        draws: number of draws of weights for the error of the distribution, each on 32 examples.
        seed: random seed for the split, the prior and all draws.
        progress: called with (steps done, steps) while fitting.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: independent, identically distributed examples; the module's other state is fixed.
    Reference: [perez2021tighter], [dziugaite2021role].
    Cost: training the prior, then a training step for each batch, then a forward pass of 32 examples for each draw.

    >>> g = torch.Generator().manual_seed(0)
    >>> x = torch.randn(600, 2, generator=g)
    >>> y = (x[:, 0] > 0).long()
    >>> found = certify(nn.Linear(2, 2), (x[:400], y[:400]), test=(x[400:], y[400:]), epochs=2, draws=400)
    >>> found.stochastic.holds, found.stochastic.vacuous
    (True, False)
    """
    check_module_is_callable(module)
    delta, seed = 1 - check_number("confidence", confidence, above=0, below=1), check_seed(seed)
    epochs, batch = check_integer("epochs", epochs, least=0), check_integer("batch", batch)
    draws, start = check_integer("draws", draws, least=20), LearnedPrior() if prior is None else prior
    pace = start.pace if lr is None else check_number("lr", lr, above=0)
    whole = _classify(data, module)
    _check_outputs(module, whole)
    with preserve(module, mode=None, seed=seed):
        order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))
        used = start.used(len(whole))
        if len(whole) - used < MIN_COUNTED_EXAMPLES:
            found = f"{len(whole) - used} of {len(whole)} examples are left for the bound"
            raise InputError(
                found, accepted=f"at least {MIN_COUNTED_EXAMPLES} examples", fix="Pass more data or a smaller share"
            )
        whole = whole[order]
        center = start.center(module, whole[:used], seed=seed).eval()
        counted = whole[used:]
        law = GaussianWeights.around(center, deviation=start.deviation)
        with set_mode(law.module, "eval"):
            law = _fit(law, whole, len(counted), delta, epochs, pace, batch, seed, progress)
            return _state_certificate(law, counted, test, start, delta, draws, seed)


def _classify(data: Any, module: nn.Module) -> Batch:
    x, y = data_source(data, module=module).pair()
    if not are_classes(y) or int(y.min()) < 0:
        found = f"the targets have shape {tuple(y.shape)}, {y.dtype}"
        raise InputError(found, accepted="integer classes 0, 1, ...", fix="Pass y.long() with one class per example")
    return Batch(x, y.long())


def _check_outputs(module: nn.Module, data: Batch) -> None:
    made = outputs_in_eval_mode(module, data[:1].x)
    most = int(data.y.max()) if data.y is not None else 0
    if made.shape[1] < 2 or most >= made.shape[1]:
        found = f"the module has {made.shape[1]} outputs and the classes are 0 to {most}"
        raise InputError(found, accepted="an output for each class", fix="Give the last layer an output for each class")


def _fit(
    law: GaussianWeights,
    data: Batch,
    n: int,
    delta: float,
    epochs: int,
    lr: float,
    size: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> GaussianWeights:
    """Trains means and standard deviations of random weights to minimize the bound on the test error."""
    moves = {name: torch.zeros_like(m, requires_grad=True) for name, m in law.means.items()}
    logs = {name: torch.zeros_like(m, requires_grad=True) for name, m in law.means.items()}
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * -(-len(data) // size)
    rule = torch.optim.Adam([*moves.values(), *logs.values()], lr=lr)
    slow = torch.optim.lr_scheduler.CosineAnnealingLR(rule, max(1, steps))
    parts = (part for _ in range(epochs) for part in torch.randperm(len(data), generator=generator).split(size))
    with Progress(steps, "steps of fitting") as bar:
        for index in parts:
            part = data[index]
            moved = _place(law, moves, logs)
            made = law.outputs(part.x, moved.weights(generator))
            loss = _loss(made, part.y)
            half = (moved.kl().to(loss.dtype) + log(2 * n**0.5 / delta)) / (2 * n)
            objective = ((loss + half).sqrt() + half.sqrt()).square()  # (1)
            rule.zero_grad()
            objective.backward()
            rule.step()
            slow.step()
            bar.step()
            if progress is not None:
                progress(bar.done, steps)
    with torch.no_grad():
        return _place(law, moves, logs)


def _place(law: GaussianWeights, moves: dict[str, Tensor], logs: dict[str, Tensor]) -> GaussianWeights:
    """Returns the distribution of weights after shifting its means and scaling its standard deviations."""
    wide = law.prior_stds
    return law.moved(
        {name: law.prior_means[name] + wide[name] * u for name, u in moves.items()},
        {name: wide[name] * v.exp() for name, v in logs.items()},
    )


def _loss(made: Tensor, y: Tensor | None) -> Tensor:
    own = torch.log_softmax(made, 1).gather(1, y[:, None])[:, 0] if y is not None else made[:, 0]
    return -own.clamp_min(log(P_LEAST)).mean() / -log(P_LEAST)


def _state_certificate(
    law: GaussianWeights, counted: Batch, test: Any, start: AbstractPrior, delta: float, draws: int, seed: int
) -> ErrorCertificate:
    n, kl = len(counted), max(0.0, float(law.kl()))
    spent, left = DELTA_SHARE_FOR_DRAWS * delta, (1 - DELTA_SHARE_FOR_DRAWS) * delta
    means = _means(law, counted, draws, spent, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    weights = law.weights(generator)
    one = _error(law, counted, weights)
    ratio = law.log_ratio(weights)
    seen: dict[str, Value] = {} if test is None else _test(law, _classify(test, law.module), weights, draws, seed)
    odds = Value("confidence, ln(2 sqrt(n) / delta) / n", log(2 * n**0.5 / left) / n)
    premises = (
        Hypothesis("examples are independent and identically distributed", None),
        Hypothesis("the prior is independent of the counted examples", start.independent, start.words),
        Hypothesis("the loss is in [0, 1]", True, "an error rate"),
    )

    def bound(name: str, value: float, empirical: float, term: float, words: str) -> GeneralizationErrorBound:
        parts = (Value("training error", empirical), Value("divergence / n", term / n), odds)
        definition = QuantityDefinition("kl(r | R) <= (KL + ln(2 sqrt(n) / delta)) / n", words, "maurer2004note")
        return GeneralizationErrorBound(name, value, parts, delta, premises, definition, seen.get(name))

    gibbs = seeger_bound(means.error_bound, kl, n, left)
    soft = seeger_bound(means.linear_bound, kl, n, left)
    alone = inverse_kl(one, max(0.0, ratio + log(2 * n**0.5 / delta)) / n)
    return ErrorCertificate(
        bound("stochastic", gibbs, means.error, kl, "new weights drawn for each example"),
        bound("majority", 2 * gibbs, means.error, kl, "the class that most draws choose"),
        bound("average", 2 * soft, means.linear, kl, "the class of the largest mean probability"),
        bound("single", alone, one, max(0.0, ratio), "one network drawn once: posterior.draw(seed)"),
        tuple(
            Value(name, f(means.error_bound, kl, n, left), obtained="upper bound")
            for name, f in (("McAllester", mcallester_bound), ("quadratic", quadratic_bound), ("Catoni", catoni_bound))
        ),
        n,
        start.words,
        law,
    )


@torch.no_grad()
def _draws(law: GaussianWeights, data: Batch, draws: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draws weights repeatedly; returns for each draw the error rate and the mean of 1 - p(label) on random
    examples.
    """
    generator = torch.Generator().manual_seed(seed)
    errors, linear = torch.empty(draws).double(), torch.empty(draws).double()
    for k in with_progress_bar(range(draws), "draws of weights"):
        part = data[torch.randint(len(data), (EXAMPLES_PER_DRAW,), generator=generator)]
        made = law.outputs(part.x, law.weights(generator))
        if part.y is not None:
            errors[k] = (made.argmax(1) != part.y).double().mean()
            linear[k] = 1 - made.softmax(1).gather(1, part.y[:, None]).double().mean()
    return errors, linear.clamp(0, 1)


def _means(law: GaussianWeights, data: Batch, draws: int, delta: float, seed: int) -> _Means:
    errors, linear = _draws(law, data, draws, seed)
    above = [min(1.0, bernstein_upper_bound(float(v.mean()), float(v.var()), draws, delta)) for v in (errors, linear)]
    return _Means(float(errors.mean()), above[0], float(linear.mean()), above[1])


@torch.no_grad()
def _error(law: GaussianWeights, data: Batch, weights: dict[str, Tensor]) -> float:
    wrong = 0
    for start in range(0, len(data), EXAMPLES_PER_PASS):
        part = data[start : start + EXAMPLES_PER_PASS]
        if part.y is not None:
            wrong += int((law.outputs(part.x, weights).argmax(1) != part.y).sum())
    return wrong / len(data)


@torch.no_grad()
def _test(law: GaussianWeights, data: Batch, weights: dict[str, Tensor], draws: int, seed: int) -> dict[str, Value]:
    """Measures on test examples the four errors that the certificate bounds, each with a confidence interval."""
    errors, _ = _draws(law, data, max(20, min(draws, len(data) // 4)), seed + 2)
    generator, labels = torch.Generator().manual_seed(seed + 3), data.y
    votes, chances = torch.zeros(2, dtype=torch.float64)
    for _ in range(min(VOTING_DRAWS, draws)):
        drawn = law.weights(generator)
        parts = [law.outputs(data[k : k + EXAMPLES_PER_PASS].x, drawn) for k in range(0, len(data), EXAMPLES_PER_PASS)]
        made = torch.cat(parts).double()
        votes = votes + nn.functional.one_hot(made.argmax(1), made.shape[1]).double()
        chances = chances + made.softmax(1)
    shares = {
        "stochastic": float(errors.mean()),
        "majority": float((votes.argmax(1) != labels).double().mean()),
        "average": float((chances.argmax(1) != labels).double().mean()),
        "single": _error(law, data, weights),
    }
    n = len(data)
    return {
        name: Value("error on test examples", share, binomial_interval(round(share * n), n), "estimate")
        for name, share in shares.items()
    }
