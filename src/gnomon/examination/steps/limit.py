"""The network of infinite width: what it would score, and so what is left for the learning of features."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.core.metrics import accuracy, binomial_interval, explained_variance
from gnomon.core.record import Record
from gnomon.core.results import Definition, Hypothesis, Value
from gnomon.examination.pictures import score_bars
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.subject import Subject
from gnomon.kernels import Limit
from gnomon.linalg.leave_one_out import LeaveOneOut, leave_one_out
from gnomon.report import Content

LEAST, SMALL, TEST = 50, 16, 800
WORDS = "What the features that it starts with are good for; training that learns better ones can go beyond."


@dataclass(frozen=True, slots=True, eq=False)
class LimitScore(Record):
    """Leave-one-out prediction by the infinite-width kernel, and its accuracy on test examples, where there are any."""

    prediction: LeaveOneOut
    test_accuracy: float | None


class LimitStep(AbstractStep):
    """Leave-one-out of the exact kernel, and its score on the test examples."""

    key, title, share = "limit", "A very wide version of it", 0.2
    question = "What would this architecture score with the features it starts with alone?"
    needs = (Profile,)
    gives = LimitScore

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        if products[Profile].program is None:
            raise Skipped(f"The limit cannot be computed from the module: {products[Profile].reason}")
        limit = Limit(subject.module)
        examples = subject.probe.some(affordable(limit, subject, context))
        prediction = leave_one_out(_kernel(limit, examples.x), subject.targets(examples.y))
        values = [Value("examples used", len(examples), meaning=f"of {len(subject.train)}")]
        if subject.task.classes:
            share = prediction.accuracy or 0.0
            values.append(Value("leave-one-out accuracy", share, prediction.accuracy_interval, "estimate"))
            right = f"about {share:.1%} (leave-one-out on {len(examples)})"
            answer = (
                f"A very wide version, which learns no features of its own, would be right on {right} of new examples."
            )
        else:
            values.append(Value("leave-one-out error", prediction.error, meaning="of the targets' variance"))
            explained = f"{1 - prediction.error:.1%} of the targets' variance (leave-one-out)"
            answer = f"A very wide version, which learns no features of its own, would explain {explained}."
        tested, score = _tested(limit, subject, prediction, examples.x, context.seed)
        definition = Definition(
            "Θ∞(x, x′) = lim E[∇f(x)·∇f(x′)]", "the infinite-width limit: all widths to infinity", "jacot2018neural"
        )
        readable = Hypothesis("every layer has a rule for its infinite-width limit", True)
        guess = float(torch.bincount(subject.probe.y).max()) / len(subject.probe) if subject.task.classes else None
        bars = {"always guessing the largest class": guess, "very wide, left out": prediction.accuracy}
        plots = score_bars(bars | {"very wide, test": score}, WORDS) if subject.task.classes else ()
        content = Content(answer, (), (*values, *tested), plots, (definition,), (readable,))
        return StepResult(content, LimitScore(prediction, score))


def _tested(
    limit: Limit, subject: Subject, prediction: LeaveOneOut, x: object, seed: int
) -> tuple[tuple[Value, ...], float | None]:
    """The score of the fit on test examples: as a value, and its accuracy."""
    if subject.test is None:
        return (), None
    test = subject.examples(subject.test.probe(TEST, seed=seed))
    f, y = prediction.at(limit.ntk(test.x, x)), subject.targets(test.y)
    if not subject.task.classes:
        return (Value("test error", 1 - explained_variance(f, y), meaning="of the targets' variance"),), None
    share = accuracy(f, y) or 0.0
    interval = binomial_interval(round(share * len(y)), len(y))
    return (Value("test accuracy", share, interval, "estimate", meaning=f"{len(test)} test examples"),), share


def affordable(limit: Limit, subject: Subject, context: Context) -> int:
    """As many examples as the time allows: a fixed cost and one per pair, from small kernels.

    The first one compiles, where nothing is kept from an earlier run; that time is not counted.
    """
    times = [_seconds(limit, subject, SMALL, context) for _ in range(2)]
    left = context.seconds + max(times[0] - times[1], 0.0)
    if left > 9 * times[1]:
        times.append(_seconds(limit, subject, 3 * SMALL, context))
        pair = max(times[2] - times[1], 1e-6) / (8 * SMALL**2)
        fixed = max(times[1] - pair * SMALL**2, 0.0)
        n = min(len(subject.probe), int((max(0.5 * (left - times[2]) - fixed, 0.0) / pair) ** 0.5))
        if n >= min(LEAST, len(subject.probe)):
            return n
    raise Skipped(f"{SMALL} examples take {times[1]:.1f} s, and {max(left, 0):.1f} s are left.")


def _seconds(limit: Limit, subject: Subject, n: int, context: Context) -> float:
    start = context.clock()
    _kernel(limit, subject.probe.some(n).x)
    return context.clock() - start


def _kernel(limit: Limit, x: object) -> Tensor:
    assert isinstance(x, Tensor)  # a program has one input
    try:
        return limit.ntk(x)
    except GnomonError as error:
        raise Skipped(str(error)) from error
