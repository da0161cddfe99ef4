"""Examination step that scores the infinitely wide version of the network, a baseline that does not learn features."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import torch
from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.core.metrics import accuracy, binomial_interval, explained_variance
from gnomon.core.results import Finding, Hypothesis, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import machine_slowdown
from gnomon.examination.levels import significance_level
from gnomon.examination.pictures import score_bars
from gnomon.examination.step import (
    AbstractStep,
    OutOfTime,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
    error_sentence,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.examination.timed import out_of_time_error
from gnomon.findings import training as kinds
from gnomon.kernels import Limit
from gnomon.linalg.leave_one_out import LeaveOneOut, leave_one_out
from gnomon.program.steps import Activation
from gnomon.report import PageContent
from gnomon.training import TrainingRun

TIMED_EXAMPLES = 16
"""Examples on which the cost is measured."""
MAX_TEST_EXAMPLES = 800
"""Test examples, at most."""
TEST_EXAMPLES_PER_FITTED = 4
"""Test examples per fitted example, at most."""
SIZES = (64, 128, 256, 512, 800)
"""Numbers of fitted examples; the largest affordable one is taken."""
FIRST_TRIAL_EXAMPLES = 2
"""Examples of the first trial without compiled loops."""
MOST_ENTRIES = 10**8
"""Maximum number of array entries of this trial; torch processes about this number in a second."""
COMPILE_TIME_SHARE = 0.5
"""Share of the remaining time that compilation may take."""
TRIAL_TIME_SHARE = 0.2
"""Share of the remaining time that measuring the cost without compiled loops may take."""
FIRST_USE = (
    "Skipped: the formulas of the kernel are compiled once per machine, which takes about {:.2g} s here. "
    "Run one examination with --budget 5m; all later examinations then include this section."
)
WORDS = (
    "The score of the network with its initial features; training that learns better features can exceed this score."
)


@dataclass(frozen=True, slots=True, eq=False)
class LimitScore(Record):
    """Result: scores of the infinitely wide network: leave-one-out on training examples, and accuracy on test
    examples.
    """

    prediction: LeaveOneOut
    test_accuracy: float | None


class LimitStep(AbstractStep):
    """Examination step that scores the infinitely wide network by leave-one-out and on test examples."""

    key, title, share = "limit", "A very wide version", 0.1
    question = "How well would this architecture score if training kept its initial features?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = LimitScore

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        profile = products.get(NetworkProfile)
        return profile is None or profile.program is not None

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        program = products[NetworkProfile].program
        if program is None:
            reason = products[NetworkProfile].reason
            raise StepSkipped(f"Skipped: theory has no formula for a very wide version of this network: {reason}")
        limit, size = affordable_limit(subject, context)
        examples = subject.probe.some(size)
        test = None if subject.test is None else subject.examples(
            subject.test.probe(count_test_examples(len(examples)), seed=context.seed)
        )  # fmt: skip
        prediction = leave_one_out(_kernel(limit, examples.x), subject.targets(examples.y))
        values = [Value("examples used", len(examples), meaning=f"of {len(subject.train)}", id="examples-used")]
        if subject.task.classes:
            share = prediction.accuracy or 0.0
            values.append(
                Value(
                    "leave-one-out accuracy",
                    share,
                    prediction.accuracy_interval,
                    "estimate",
                    id="leave-one-out-accuracy",
                )
            )
            answer = (
                "A very wide version, which learns no features of its own, would be right on about "
                f"{share:.1%} of new examples (leave-one-out on {len(examples)})."
            )
        else:
            values.append(
                Value(
                    "leave-one-out error",
                    prediction.error,
                    meaning="of the variance of the targets",
                    id="leave-one-out-error",
                )
            )
            explained = f"{1 - prediction.error:.1%} of the variance of the targets (leave-one-out)"
            answer = f"A very wide version, which learns no features of its own, would explain {explained}."
        shown, score = _test(limit, subject, prediction, examples.x, test)
        definition = QuantityDefinition(
            "Θ∞(x, x′) = lim E[∇f(x)·∇f(x′)]", "the infinite-width limit: all widths to infinity", "jacot2018neural"
        )
        readable = Hypothesis("every layer has a rule for its infinite-width limit", True)
        hidden = any(isinstance(step.op, Activation) for step in program.steps)
        findings = below_limit_findings(
            products.get(TrainingRun), score, 0 if test is None else len(test), hidden=hidden
        )
        guess = float(torch.bincount(subject.probe.y).max()) / len(subject.probe) if subject.task.classes else None
        bars = {"always guessing the largest class": guess, "very wide, held-out examples": prediction.accuracy}
        plots = score_bars(bars | {"very wide, test": score}, WORDS) if subject.task.classes else ()
        content = PageContent(answer, findings, (*values, *shown), plots, (definition,), (readable,))
        return StepResult(content, LimitScore(prediction, score))


def _test(
    limit: Limit, subject: Subject, prediction: LeaveOneOut, x: object, test: Examples | None
) -> tuple[tuple[Value, ...], float | None]:
    """Returns the infinitely wide network's score on test examples for the report, and its accuracy."""
    if test is None:
        return (), None
    f, y = prediction.at(limit.ntk(test.x, x)), subject.targets(test.y)
    if not subject.task.classes:
        return (
            Value(
                "test error",
                1 - explained_variance(f, y),
                meaning="of the variance of the targets",
                id="wide-test-error",
            ),
        ), None
    share = accuracy(f, y) or 0.0
    interval = binomial_interval(round(share * len(y)), len(y))
    return (
        Value(
            "test accuracy", share, interval, "estimate", meaning=f"{len(test)} test examples", id="wide-test-accuracy"
        ),
    ), share


def count_test_examples(fitted: int) -> int:
    """Returns the number of test examples on which to score, given the number of training examples.

    >>> count_test_examples(64), count_test_examples(800)
    (256, 800)
    """
    return min(MAX_TEST_EXAMPLES, TEST_EXAMPLES_PER_FITTED * fitted)


def affordable_limit(subject: Subject, context: StepContext) -> tuple[Limit, int]:
    """Returns the kernel of the infinitely wide network and the number of examples that the time allows.

    Raises `StepSkipped` if both take too long.
    """
    limit, x = Limit(subject.module, compiled=True), subject.probe.some(TIMED_EXAMPLES).x
    wait = _compile_seconds(limit, x)
    if wait > 0:
        wait *= machine_slowdown(context.clock)
    if wait <= COMPILE_TIME_SHARE * context.seconds:
        return limit, affordable_kernel_examples(limit, subject, context)
    limit = replace(limit, compiled=False)
    if _compile_seconds(limit, x) > 0 or not _triable(limit, subject, context):
        raise StepSkipped(FIRST_USE.format(wait))
    try:
        return limit, affordable_kernel_examples(limit, subject, context)
    except OutOfTime:
        raise StepSkipped(FIRST_USE.format(wait)) from None


def _triable(limit: Limit, subject: Subject, context: StepContext) -> bool:
    """Checks whether there is time to compute a small kernel of the infinitely wide network without compiling its
    code.
    """
    few = subject.probe.some(FIRST_TRIAL_EXAMPLES).x
    assert isinstance(few, Tensor)  # Modules that can be converted to a program take a single tensor.
    if limit.plan(few).pair_entries(tangent=True) * FIRST_TRIAL_EXAMPLES**2 > MOST_ENTRIES:
        return False
    seconds = min(_seconds(limit, subject, FIRST_TRIAL_EXAMPLES, context) for _ in range(2))
    return (TIMED_EXAMPLES / FIRST_TRIAL_EXAMPLES) ** 2 * seconds <= TRIAL_TIME_SHARE * context.seconds


def affordable_kernel_examples(limit: Limit, subject: Subject, context: StepContext) -> int:
    """Returns the number of examples whose kernel takes at most half of the time left, from timing small kernels."""
    times = [_seconds(limit, subject, TIMED_EXAMPLES, context) for _ in range(2)]
    pair, fixed = times[1] / TIMED_EXAMPLES**2, 0.0
    if context.seconds > 9 * times[1]:
        pair = max(_seconds(limit, subject, 3 * TIMED_EXAMPLES, context) - times[1], 1e-6) / (8 * TIMED_EXAMPLES**2)
        fixed = max(times[1] - pair * TIMED_EXAMPLES**2, 0.0)
    test = 0 if subject.test is None else len(subject.test)
    cost = {n: fixed + pair * n * (n + min(test, count_test_examples(n))) for n in SIZES}
    fits = [n for n in SIZES if cost[n] <= 0.5 * context.seconds]
    if not fits:
        raise out_of_time_error(
            f"The kernel of {SIZES[0]} examples, the smallest useful number,", 2 * cost[SIZES[0]], context
        )
    return max(fits)


def below_limit_findings(run: TrainingRun | None, wide: float | None, n: int, *, hidden: bool) -> tuple[Finding, ...]:
    """Reports a problem if a long training run scores significantly below the infinitely wide network on test examples.

    Networks without hidden layers have nothing to widen. False alarms: 0.005 if both are equally good.

    >>> below_limit_findings(None, 0.9, 100, hidden=True)                       # nothing was trained
    ()
    """
    if run is None or wide is None or run.test_accuracy is None or run.shortage:
        return ()
    reached = float(run.test_accuracy[-1])
    chance = NormalDist().inv_cdf(1 - significance_level("below-limit")) * (2 * wide * (1 - wide) / n) ** 0.5
    if wide <= reached + max(0.02, chance):
        return ()
    row = kinds.BELOW_LIMIT if hidden else kinds.BELOW_LEAST_SQUARES
    return (Finding(row, values={"wide": wide, "reached": reached}, false_alarm=significance_level("below-limit")),)


def _seconds(limit: Limit, subject: Subject, n: int, context: StepContext) -> float:
    start = context.clock()
    _kernel(limit, subject.probe.some(n).x)
    return context.clock() - start


def _compile_seconds(limit: Limit, x: object) -> float:
    try:
        return limit.compile_seconds(x)
    except GnomonError as error:
        raise StepSkipped(error_sentence(error)) from error


def _kernel(limit: Limit, x: object) -> Tensor:
    assert isinstance(x, Tensor)  # Modules that can be converted to a program take a single tensor.
    try:
        return limit.ntk(x)
    except GnomonError as error:
        raise StepSkipped(error_sentence(error)) from error
