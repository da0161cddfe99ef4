"""Examination step that trains a copy by full-batch gradient descent and compares the loss with the prediction.

    gap = max over steps t of |measured loss(t) - predicted loss(t)| / measured loss(0)                       (1)

Prediction and measurement share the examples, the learning rate, the momentum and the loss; each step uses all examples
at once, in eval mode. So a gap is due to the assumptions that are left: the tangent kernel does not change, and, for
several outputs, each of them follows the mean kernel of all.
"""

from dataclasses import dataclass
from math import isfinite

import torch

from gnomon.core.errors import NotFiniteError
from gnomon.core.inputs.source import Batch, InMemorySource
from gnomon.core.results import Axis, Hypothesis, Line, Plot, QuantityDefinition, Scatter, Value
from gnomon.core.results.record import Record
from gnomon.dynamics import predict_from_kernel
from gnomon.dynamics.trajectory import Trajectory
from gnomon.examination.step import (
    SKIPPED_WITHOUT_TRAINING,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
    error_sentence,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.forecast import MAX_TEST_EXAMPLES, add_rounding_to_diagonal
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.examination.timed import out_of_time_error
from gnomon.landscape.sharpness import Sharpness
from gnomon.report import PageContent
from gnomon.training import SGD, TrainingRun, train
from gnomon.training.torch_optimizers import as_gradient_descent

MIN_STEPS = 8
"""Minimum number of steps for a comparison."""
MAX_STEPS = 200
"""Maximum number of steps."""
RECORDED_STEPS = 24
"""Number of steps at which the loss is measured."""
TRAINING_TIME_SHARE = 0.5
"""Share of the time for training; the rest pays for measuring the losses and for the prediction."""
TRIAL_STEPS = 24
"""Number of steps of a trial run that decides whether a learning rate is stable."""
MAX_TRIALS = 4
"""Maximum number of learning rates tried."""
RATE_REDUCTION = 4.0
"""Factor by which the learning rate falls after an unstable trial."""
MAX_LOSS_RISE = 1.05
"""Ratio of the largest loss of a trial to its first loss up to which the learning rate counts as stable."""
CLOSE_GAP = 0.05
"""Gap (1) up to which prediction and measurement are called the same."""
LOG_RATIO = 5.0
"""Ratio of the largest and smallest loss above which the axis of the loss is logarithmic."""
USERS_RATE = "your learning rate"
HALF_OF_LARGEST = "half of the largest rate that is stable at the start"


@dataclass(frozen=True, slots=True, eq=False)
class TheoryMatch(Record):
    """Result: a predicted and a measured training run, the largest gap between their losses, and the compared steps."""

    predicted: Trajectory
    measured: TrainingRun
    gap: float
    pairs: tuple[tuple[int, int], ...]

    def agrees_until(self) -> int:
        """Returns the last step up to which all measured losses are close to the predicted ones."""
        first, last = abs(float(self.measured.loss[0])), 0
        for own, theirs in self.pairs:
            if abs(float(self.measured.loss[own]) - float(self.predicted.loss[theirs])) > CLOSE_GAP * first:
                break
            last = int(self.measured.steps[own])
        return last


class MatchStep(AbstractStep):
    """Examination step that compares a short run of full-batch gradient descent with its prediction by the tangent
    kernel.
    """

    key, title, share = "match", "Theory against measurement", 0.06
    question = "Does the loss fall in gradient descent as theory predicts?"
    needs = (NetworkProfile, ProbeKernel, Sharpness)
    gives = TheoryMatch
    rests_on = ("examples", "prediction")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit and subject.recipe.own_loss is None

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if not context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if subject.recipe.own_loss is not None:
            raise StepSkipped("Skipped: theory has no equations of training for your own loss.")
        rule, whose = _rule(subject, products[Sharpness])
        examples = products[ProbeKernel].examples
        cost = products[NetworkProfile].cost.step(len(examples))
        steps = min(MAX_STEPS, int(TRAINING_TIME_SHARE * context.seconds / max(cost, 1e-9)))
        if steps < MIN_STEPS:
            raise out_of_time_error(f"{MIN_STEPS} steps on {len(examples)} examples", 2 * MIN_STEPS * cost, context)
        if whose != USERS_RATE:
            rule, whose = _reduced_until_stable(subject, examples, rule, min(steps, TRIAL_STEPS), context)
        test = _test_examples(subject, products[ProbeKernel], context)
        try:
            predicted = _predict(subject, products[ProbeKernel], test, rule, _record_steps(steps), context)
        except NotFiniteError as error:
            raise StepSkipped(error_sentence(error)) from error
        measured = train(
            subject.module, _source(subject, examples), test=None if test is None else _source(subject, test),
            loss=subject.loss, optimizer=rule, steps=steps, record=_record_steps(steps), mode="eval", seed=context.seed,
            budget=max(context.seconds, 2 * MIN_STEPS * cost), clock=context.clock,
        )  # fmt: skip
        measured.raise_if_interrupted()
        match = _match(predicted, measured, rule)
        if len(match.pairs) < 3:
            raise StepSkipped("Skipped: the short run of gradient descent was stopped before its third measurement.")
        return StepResult(_content(match, rule, whose, len(examples), subject.task.outputs), match)


def _rule(subject: Subject, measured: Sharpness) -> tuple[SGD, str]:
    """Chooses the optimizer for comparing theory and training: the user's gradient descent if stable, else a slower
    one.
    """
    own = as_gradient_descent(subject.optimizer)
    if own is not None and not own.decay and own.lr < measured.largest_lr * (1 + own.momentum):
        return own, USERS_RATE
    if not isfinite(measured.largest_lr) or measured.largest_lr <= 0:
        raise StepSkipped("Skipped: no learning rate can be chosen, because the loss has no positive curvature.")
    return SGD(measured.largest_lr / 2), HALF_OF_LARGEST


def _reduced_until_stable(
    subject: Subject, examples: Examples, rule: SGD, steps: int, context: StepContext
) -> tuple[SGD, str]:
    """Finds the largest of a few learning rates at which the loss does not rise in a short run; also describes it in
    words.

    The largest stable rate is computed from the curvature at the start. Gradient descent often increases the curvature
    in its first steps, and then leaves the initial features although its rate looked stable.
    """
    whose = HALF_OF_LARGEST
    for _ in range(MAX_TRIALS - 1):
        trial = train(
            subject.module, _source(subject, examples), loss=subject.loss, optimizer=rule, steps=steps,
            record=[*range(steps + 1)], mode="eval", seed=context.seed, clock=context.clock,
        )  # fmt: skip
        trial.raise_if_interrupted()
        if not trial.diverges and float(trial.loss.max()) <= MAX_LOSS_RISE * float(trial.loss[0]):
            break
        rule = SGD(rule.lr / RATE_REDUCTION)
        whose = f"{HALF_OF_LARGEST} was unstable in a trial, so a smaller rate is used"
    return rule, whose


def _source(subject: Subject, examples: Examples) -> InMemorySource:
    """Converts some examples to a data source for training; real-valued targets get their original shape."""
    y = examples.y if subject.task.classes else examples.y.reshape(len(examples), *subject.task.shape)
    return InMemorySource(Batch(examples.x, y), None)


def _test_examples(subject: Subject, product: ProbeKernel, context: StepContext) -> Examples | None:
    if subject.test is None or product.means.estimate(MAX_TEST_EXAMPLES) > 0.2 * context.seconds:
        return None
    return subject.examples(subject.test.probe(MAX_TEST_EXAMPLES, seed=context.seed))


def _record_steps(steps: int) -> list[int]:
    """Returns the steps at which the loss is measured, denser at the beginning, when it falls fastest.

    >>> _record_steps(8)
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    places = torch.linspace(0, 1, RECORDED_STEPS, dtype=torch.float64).square() * steps
    return (
        sorted({0, 1, 2, 3, steps, *places.round().int().tolist()}) if steps > RECORDED_STEPS else [*range(steps + 1)]
    )


def _predict(
    subject: Subject, product: ProbeKernel, test: Examples | None, rule: SGD, steps: list[int], context: StepContext
) -> Trajectory:
    examples = product.examples
    return predict_from_kernel(
        add_rounding_to_diagonal(product.kernel, next(subject.module.parameters()).dtype),
        subject.targets(examples.y),
        test=None if test is None else product.means.kernel(test.x, context, examples.x),
        y_test=None if test is None else subject.targets(test.y),
        f0=subject.outputs(examples.x).double(),
        f0_test=None if test is None else subject.outputs(test.x).double(),
        loss=subject.task.loss,
        optimizer=rule,
        times=torch.tensor(steps, dtype=torch.float64) * rule.lr,
    )


def _match(predicted: Trajectory, measured: TrainingRun, rule: SGD) -> TheoryMatch:
    """Compares predicted and measured losses at the steps for which both exist; returns the largest gap."""
    places = {round(float(time) / rule.lr): i for i, time in enumerate(predicted.times)}
    rows = [(i, places[int(step)]) for i, step in enumerate(measured.steps) if int(step) in places]
    gaps = [abs(float(measured.loss[i]) - float(predicted.loss[j])) for i, j in rows]
    gap = max(gaps, default=0.0) / max(abs(float(measured.loss[0])), 1e-300)  # (1)
    return TheoryMatch(predicted, measured, gap, tuple(rows))


def _content(match: TheoryMatch, rule: SGD, whose: str, n: int, outputs: int) -> PageContent:
    run, (last, same) = match.measured, match.pairs[-1]
    steps, got, wanted = int(run.steps[last]), float(run.loss[last]), float(match.predicted.loss[same])
    momentum = f", momentum {rule.momentum:g}" if rule.momentum else ""
    method = f"gradient descent on {n} examples, learning rate {rule.lr:.3g} ({whose}){momentum}"
    if match.gap <= CLOSE_GAP:
        answer = (
            f"Theory predicts the loss over {steps} steps of {method}: the largest difference is {match.gap:.1%} of "
            f"the loss at the start. So far the network only combines its initial features."
        )
    else:
        side, why = ("lower", "better features than it started with") if got < wanted else ("higher", "other features")
        several = ", or its outputs influence each other" if outputs > 1 else ""
        answer = (
            f"{_agreement(match)}, in {method}. After {steps} steps the "
            f"measured loss is {got:.3g}, {side} than the {wanted:.3g} that theory predicts for fixed features. "
            f"The network learns {why}{several}."
        )
    values = (
        Value("largest gap of prediction and measurement", match.gap, meaning="relative to the loss at the start",
              id="theory-gap"),
        Value("measured loss after these steps", got, id="match-measured-loss"),
        Value("predicted loss after these steps", wanted, id="match-predicted-loss"),
        Value("steps of gradient descent", steps, meaning=method, id="match-steps"),
    )  # fmt: skip
    definition = QuantityDefinition("f′ = −(1/n) Θ ∂l/∂f", "the same steps with a fixed kernel Θ", "lee2019wide")
    premises = (
        Hypothesis("the tangent kernel does not change", match.gap <= CLOSE_GAP or None, f"gap {match.gap:.1%}"),
        Hypothesis("outputs do not influence each other", outputs == 1, "the mean kernel over outputs is used"),
    )
    good = match.gap <= CLOSE_GAP
    return PageContent(answer, (), values, (_plot(match),), (definition,), premises, good_news=good)


def _agreement(match: TheoryMatch) -> str:
    """Says until which step the measured losses are close to the predicted ones."""
    last, end = match.agrees_until(), int(match.measured.steps[match.pairs[-1][0]])
    if last == 0:
        return f"Theory and measurement differ by more than {CLOSE_GAP:.0%} from the first measured step on"
    return f"Theory and measurement agree within {CLOSE_GAP:.0%} until step {last} of {end} and then differ"


def _plot(match: TheoryMatch) -> Plot:
    run, predicted = match.measured, match.predicted
    own, theirs = (list(places) for places in zip(*match.pairs, strict=True))
    steps = run.steps[own]
    marks = (
        Line("predicted", steps, predicted.loss[theirs], predicted=True),
        Scatter("measured", steps, run.loss[own], 0),
    )
    losses = torch.tensor([value for mark in marks for value in mark.y], dtype=torch.float64)
    positive = losses[losses.isfinite() & (losses > 0)]
    wide = len(positive) == len(losses) and float(positive.max()) > LOG_RATIO * float(positive.min())
    words = (
        "Not your training, but a separate short run of plain gradient descent. Dots: measured. Line: predicted before "
        "the run, for a network that keeps its initial features."
    )
    if match.gap > CLOSE_GAP:
        words += f" {_agreement(match)}: the network changes its features."
    each = run.seconds / max(int(run.steps[-1]), 1)
    axes = Axis("step", other_unit=("seconds", each)), Axis(run.loss_name, log=wide)
    return Plot("Theory check (a separate run)", marks, *axes, words, id="theory-and-measurement")
