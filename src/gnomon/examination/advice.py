"""From facts to actions: each rule looks at the facts, and speaks only when a measurement supports it.

Rules are ranked by their effect: what makes training impossible comes before what makes it worse, and that before what
could be better. An effect of at least ``FAULT`` is a fault, less is an improvement.
"""

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from gnomon.examination.steps.data import LARGE, SMALL
from gnomon.examination.subject import Subject
from gnomon.report import Advice
from gnomon.training.native import descent

FAULT = 0.5
Rule = Callable[[Subject, Mapping[str, Any]], Iterator[Advice]]


def advise(subject: Subject, facts: Mapping[str, Any]) -> tuple[Advice, ...]:
    """All that the rules have to say, the most effective first.

    Cost: none.
    """
    found = [advice for rule in RULES for advice in rule(subject, facts)]
    return tuple(sorted(found, key=lambda a: -a.effect))


def _nothing(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    if facts.get("constant inputs"):
        yield Advice("Look at how the inputs were made", "all examples are the same", "data", 0.995)
    if facts.get("one class"):
        yield Advice("Give examples of more than one class", "all labels are the same", "data", 0.993)
    if not subject.trainable and any(True for _ in subject.module.parameters()):
        because = "no parameter requires a gradient, so nothing can be trained"
        yield Advice("Call requires_grad_() on what is to be trained", because, "architecture", 0.99)


def _input_scale(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    scale = facts.get("input scale")
    if scale is not None and not SMALL <= scale <= LARGE:
        because = f"the inputs have a root mean square of {scale:.3g}; networks are made for about 1"
        yield Advice(
            "Standardize the inputs: subtract the mean and divide by the spread of the training set",
            because,
            "data",
            0.97,
        )


EFFECTS = {"not-finite": 0.99, "zero-weights": 0.98, "vanishing-activations": 0.95, "exploding-activations": 0.95,
           "vanishing-gradients": 0.94, "exploding-gradients": 0.94, "dead-units": 0.8,
           "merged-inputs": 0.7}  # fmt: skip
"""Of the findings of `gnomon.geometry`, by their kinds."""


def _signal(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    faults, variance = facts.get("signal faults", ()), facts.get("weight variance")
    for fault in faults:
        because = fault.what[0].lower() + fault.what[1:].rstrip(".")
        if not fault.where and variance is not None and ("vanishing" in fault.kind or "exploding" in fault.kind):
            because += f"; the weights have variance {variance:.2g} / fan_in"
        yield Advice(fault.cure.rstrip("."), because, "signal", EFFECTS.get(fault.kind, 0.6))
        if EFFECTS.get(fault.kind, 0) > 0.9:
            return  # what else is wrong follows from it


def _labels(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    p = facts.get("label p")
    if facts.get("labels unrelated"):
        score = facts.get("kernel accuracy")
        told = (
            ""
            if score is None
            else f", and its leave-one-out accuracy is {score:.1%} (guessing: {facts.get('largest class', 0):.1%})"
        )
        because = f"the kernel is aligned with the labels no better than with shuffled ones (p = {p:.2g}){told}"
        yield Advice("Check that labels belong to their inputs: they look shuffled", because, "kernel", 0.9)


def _step(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    limit, optimizer = facts.get("stable lr"), descent(subject.optimizer)
    if limit is None or not isfinite(limit) or optimizer is None:
        return
    bound = limit * (1 + optimizer.momentum)
    ratio = optimizer.lr / bound
    if ratio > 1:
        because = f"learning rate {optimizer.lr:.3g} is {ratio:.1f}x above the stable limit {bound:.3g}"
        yield Advice(f"Use a learning rate of at most {0.5 * bound:.2g}", because, "stability", 0.85)
    elif ratio < 0.1:
        because = f"learning rate {optimizer.lr:.3g} is {1 / ratio:.1f}x below the stable limit {bound:.3g}"
        yield Advice(f"Try a larger learning rate, up to {0.5 * bound:.2g}", because, "stability", 0.3)


def _diverged(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    run = facts.get("run")
    if run is not None and run.diverges:
        because = f"the training loss went from {float(run.loss[0]):.3g} to {float(run.loss[-1]):.3g} ({run.stopped})"
        yield Advice(
            f"Use a smaller learning rate than {run.optimizer.lr:.3g}: training diverged", because, "training", 0.8
        )


def _unlearned(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    run, guess = facts.get("run"), facts.get("largest class")
    if run is None or run.accuracy is None or guess is None or run.diverges:
        return
    last, score = float(run.accuracy[-1]), facts.get("limit accuracy", facts.get("kernel accuracy"))
    if score is not None and score - last > 0.1 and run.stopped == "finished":
        because = (
            f"training reached {last:.1%} of its own examples, where the kernel alone reaches {score:.1%} left out"
        )
        yield Advice("Train longer or with a larger learning rate", because, "training", 0.45)


def _overfit(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    run = facts.get("run")
    if run is None or run.test_loss is None or run.diverges:
        return
    least, last = float(run.test_loss.min()), float(run.test_loss[-1])
    if last > 1.2 * least and last - least > 0.02:
        step = int(run.steps[int(run.test_loss.argmin())])
        because = f"the test loss was {least:.3g} at step {step} and is {last:.3g} at the end"
        yield Advice(f"Stop near step {step}, or add weight decay", because, "training", 0.4)


def _better_kernel(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    run, limit = facts.get("run"), facts.get("limit test accuracy")
    if run is None or limit is None or run.test_accuracy is None:
        return
    last = float(run.test_accuracy[-1])
    if limit > last + 0.02:
        because = f"the infinitely wide network scores {limit:.1%} on the test points, the trained one {last:.1%}"
        yield Advice("Widen the network or train it longer; NTKClassifier already does better", because, "limit", 0.35)


def _calibrate(subject: Subject, facts: Mapping[str, Any]) -> Iterator[Advice]:
    gap = facts.get("confidence gap")
    if gap is not None and facts.get("run") is not None and gap > 0.05:
        because = f"its confidence is {gap:.1%} above its accuracy"
        yield Advice("Divide the logits by a temperature fitted on held-out data", because, "margins", 0.2)


RULES: tuple[Rule, ...] = (
    _nothing, _input_scale, _signal, _labels, _step, _diverged, _unlearned, _overfit, _better_kernel,
    _calibrate,
)  # fmt: skip
"""A new rule is one function and one name here."""
