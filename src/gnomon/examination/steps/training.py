"""Examination step that trains a copy, compares its losses with predictions, and tracks kernel and curvature."""

from math import log

import torch

from gnomon.core.results import Finding, QuantityDefinition, Reference, Value
from gnomon.dynamics.trajectory import Trajectory
from gnomon.examination.cost import StepCost, largest_size_up_to
from gnomon.examination.first_outputs import labels_of_all_examples
from gnomon.examination.good_results import results_are_good
from gnomon.examination.perplexity import perplexity_values, verdict_with_perplexity
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_WITHOUT_TRAINING,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
    require_gradients,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.data import DataSummary
from gnomon.examination.steps.kernel import ProbeKernel
from gnomon.examination.subject import Subject
from gnomon.examination.timed import out_of_time_error
from gnomon.examination.tracker import ModelTracker, TimeSpent
from gnomon.examination.training_plots import loss_plot, plot_tracked, predicted_rate
from gnomon.findings import training as kinds
from gnomon.landscape.sharpness import Sharpness
from gnomon.report import PageContent
from gnomon.training import Adam, TrainingRun, train
from gnomon.training.log import Watcher
from gnomon.training.plan import BatchPlan, RecordingPlan
from gnomon.training.schedule import ScheduledOptimizer
from gnomon.training.torch_optimizers import as_gradient_descent

DEFAULT_MAX_STEPS = 2000
"""Steps, at most, if no number of epochs is given."""
DEFAULT_MAX_EPOCHS = 10
"""Epochs, at most, if they take more steps than that."""
RECORDED_STEPS = 24
"""Steps that are recorded."""
SAMPLE_SIZES = (32, 64, 128, 256, 512)
"""Examples of each set on which a run is recorded, chosen by time."""
RECORDING_TIME_SHARE = 0.04
"""Share of the training time that recording may take."""
TRACKED_EXAMPLE_COUNTS = (8, 16, 32)
"""Examples whose kernel is measured during training, chosen by time."""
HESSIAN_PRODUCTS = 8
"""Hessian products for each measurement of the sharpness."""
TRACKING_TIME_SHARE = 0.015
"""Share of the time for kernel and sharpness."""
BATCH_SIZES = (16, 32, 64, 128, 256)
"""Batch sizes to choose from if none is given."""
MIN_BATCH_SIZE_SGD = 32
"""Smallest batch for gradient descent, whose noise grows like lr / batch."""
MIN_STEPS = 300
"""If a batch size leaves time for fewer steps, a smaller one is used: fewer steps hardly train anything."""
REPORTED_LOSS_FACTOR = 2.0
"""Factor between measured and predicted loss at which the difference is reported."""
LEARNED_LOSS_SHARE = 0.5
"""A loss below this share of its start means that the network learned."""
MIN_TEST_LOSS_RISE = 0.05
"""Rise of the test loss, relative to the loss of guessing or of the start, at which stopping earlier is worthwhile."""
MIN_RISE = 0.02
"""Smallest rise of the test loss that counts."""
LARGE_RISE = 1.2
"""Ratio of the last and the smallest test loss above which the network overfits, however the loss got there."""
MIN_RISING_LOSSES = 5
"""Number of last recorded test losses, each larger than the one before, that show a rise below `LARGE_RISE`. Only for
tasks without classes: with classes, the accuracy may still improve."""
LAST_PART = 0.25
"""Share of the steps, at the end of training, in which the loss is compared with the loss before them."""
MIN_FALL_AT_END = 0.05
"""Relative fall of the loss in the last part of training at which more steps are likely to help."""
MIN_STEPS_TO_JUDGE = 100
"""Steps after which a network at chance level has a problem; below, it was only trained too briefly."""


OSCILLATION_LIMIT = QuantityDefinition(
    "2 / lr", "if the sharpness is above this line, plain gradient descent oscillates", "cohen2021gradient"
)


class TrainingStep(AbstractStep):
    """Examination step that trains a copy of the network in batches, for a limited part of the time budget."""

    key, title, share = "training", "Training, measured", 0.6
    question = "How does the loss fall in training, compared with the prediction?"
    needs = (NetworkProfile,)
    uses = (DataSummary, Sharpness, ProbeKernel, Trajectory)
    gives = TrainingRun
    states = ("trained_enough", "loss_fell", "good_results")
    rests_on = ("examples", "training")
    if_unsure = "training was too short to say how it would end"

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        if not context.fit:
            raise StepSkipped(
                f"{SKIPPED_WITHOUT_TRAINING} Pass fit=True (--fit), or a function that builds the network."
            )
        require_gradients(subject)
        cost = products[NetworkProfile].cost
        least = min(BATCH_SIZES) if as_gradient_descent(subject.recipe.optimizer) is None else MIN_BATCH_SIZE_SGD
        size = subject.recipe.batch or batch_size(len(subject.train), cost, context.seconds, least=least)
        if context.seconds < 3 * cost.step(size):
            raise out_of_time_error(f"Three steps on {size} examples", 3 * cost.step(size), context)
        run = _train(subject, size, cost, context)
        run.raise_if_interrupted()
        plots = [loss_plot(run, products), *plot_tracked(run)]
        limited = any(isinstance(mark, Reference) for plot in plots for mark in plot.marks)
        definitions = (OSCILLATION_LIMIT,) if limited else ()
        data = {"steps": run.steps, "loss": run.loss, "watched": dict(run.watched)}
        short = run.shortage
        findings = run.findings if short else (
            *run.findings, *_below_kernel(run, products), *_overfit(run, subject.task.classes)
        )  # fmt: skip
        wanted = compare_with_prediction(run, products)
        reading, own = subject.task.reading, subject.recipe.loader is not None
        verdict = verdict_with_perplexity(run, reading)
        answer = f"{NOT_TRAINED_LONG_ENOUGH} {short}. {verdict}" if short else f"{verdict}{_disagreement(run, wanted)}"
        falling = () if short else fall_at_end(run)
        values = (*_values(run, size, own=own), *perplexity_values(run, reading), *wanted, *falling)
        content = PageContent(answer, findings, values, tuple(plots), definitions, data=data)
        good = results_are_good(run, labels_of_all_examples(subject.train))
        enough = not short and (_loss_fell(run) or int(run.steps[-1]) >= MIN_STEPS_TO_JUDGE)
        facts = {"trained_enough": enough, "loss_fell": _loss_fell(run), "good_results": good}
        return StepResult(content, run, "unsure" if short else "answered", facts, run.time_factor)


def _loss_fell(run: TrainingRun) -> bool:
    """Checks whether a complete training run reduced the loss (on test examples if there are any) to a small part."""
    losses = run.loss if run.test_loss is None else run.test_loss
    return not run.diverges and not run.shortage and float(losses[-1]) < LEARNED_LOSS_SHARE * float(losses[0])


def _train(subject: Subject, size: int, cost: StepCost, context: StepContext) -> TrainingRun:
    recipe, n = subject.recipe, len(subject.train)
    epoch = max(1, n // size)
    steps = max(DEFAULT_MAX_STEPS, DEFAULT_MAX_EPOCHS * epoch) if recipe.epochs is None else recipe.epochs * epoch
    sample = largest_size_up_to(
        SAMPLE_SIZES, 0.01 * context.seconds / cost.each
    )  # Computing the losses on train and test takes about a third of a training step per example
    optimizer = recipe.optimizer or Adam()
    if recipe.schedule is not None:
        optimizer = ScheduledOptimizer(optimizer, recipe.schedule, epoch)
    return train(
        subject.module, subject.train, test=subject.test, loss=subject.loss, optimizer=optimizer, steps=steps,
        batch=BatchPlan(size, recipe.loader, recipe.augment), record=RecordingPlan(steps_to_record(steps), sample,
        RECORDING_TIME_SHARE),
        watch=_watchers(subject, cost, context), budget=0.95 * context.seconds, seed=context.seed, clock=context.clock,
    )  # fmt: skip


def _watchers(subject: Subject, cost: StepCost, context: StepContext) -> dict[str, Watcher]:
    """Returns functions that measure kernel and curvature during training, on few enough examples to take 1/100 of
    the time.
    """
    each = (
        2 * max(1, subject.task.outputs) + 3 * HESSIAN_PRODUCTS
    )  # Passes per example: one per output for the kernel, and three per product with the Hessian
    affordable = (context.seconds / 100 - 3 * HESSIAN_PRODUCTS * cost.fixed) / (each * cost.each)
    if affordable < min(TRACKED_EXAMPLE_COUNTS):
        return {}
    examples = subject.probe.some(largest_size_up_to(TRACKED_EXAMPLE_COUNTS, affordable))
    return ModelTracker(
        subject, examples, products=HESSIAN_PRODUCTS, time=TimeSpent(context.clock, TRACKING_TIME_SHARE)
    ).watchers()


def batch_size(n: int, cost: StepCost, seconds: float, *, least: int = min(BATCH_SIZES)) -> int:
    """Chooses the batch size if the user gives none, from the number of examples and the cost of a step.

    Reference: [mandt2017stochastic] for the noise of gradient descent, which scales with lr / batch.

    >>> batch_size(4000, StepCost(0.0, 1e-4, 0.0), 10.0), batch_size(4000, StepCost(0.0, 1e-2, 0.0), 60.0)
    (64, 16)
    """
    size = largest_size_up_to(BATCH_SIZES, min(128 if n >= 20000 else 64, n / 8))
    while size > least and seconds < MIN_STEPS * cost.step(size) and cost.passes(size) > cost.update:
        size //= 2
    return min(size, n)


def steps_to_record(steps: int) -> list[int]:
    """Returns the steps at which training is recorded, denser at the beginning."""
    recorded = torch.logspace(0, torch.log10(torch.tensor(float(steps))), RECORDED_STEPS).round().int().unique()
    return [0, *recorded.tolist()]


def _values(run: TrainingRun, size: int, *, own: bool) -> tuple[Value, ...]:
    steps = "batches of the loader" if own else f"batches of {size}"
    values = [
        Value("optimizer", f"{run.optimizer.name}, learning rate {run.optimizer.lr:.3g}", id="optimizer"),
        Value("steps taken", int(run.steps[-1]), meaning=steps, id="steps-taken"),
        Value("passes over the examples", round(run.epochs, 2), id="epochs"),
        Value("training loss", float(run.loss[-1]), meaning=f"{float(run.loss[0]):.3g} before", id="training-loss"),
    ]
    if run.accuracy is not None:
        values.append(Value("training accuracy", float(run.accuracy[-1]), id="training-accuracy"))
    if run.test_accuracy is not None:
        values.append(Value("test accuracy", float(run.test_accuracy[-1]), id="test-accuracy"))
    if run.test_loss is not None:
        least = f"least: {float(run.test_loss.min()):.3g}"
        values.append(Value("test loss", float(run.test_loss[-1]), meaning=least, id="test-loss"))
    return tuple(values)


def fall_at_end(run: TrainingRun) -> tuple[Value, ...]:
    """Returns by how much the test loss fell in the last quarter of training, if it was still falling; else nothing.

        fall = 1 - loss(end) / loss(three quarters of the steps)                                                (1)

    The loss between two recorded steps is interpolated. Without test examples it is the training loss.

    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=40)
    >>> [value.id for value in fall_at_end(run)]
    ['fall-at-end']
    """
    name, losses = ("the training loss", run.loss) if run.test_loss is None else ("the test loss", run.test_loss)
    if run.diverges or len(losses) < 3 or not bool(torch.isfinite(losses).all()) or float(losses[-1]) <= 0:
        return ()
    steps, start = run.steps.double(), (1 - LAST_PART) * float(run.steps[-1])
    after = min(int(torch.searchsorted(steps, start)), len(steps) - 1)
    share = (start - float(steps[after - 1])) / float(steps[after] - steps[after - 1])
    before = float(torch.lerp(losses[after - 1].double(), losses[after].double(), share))
    fall = 1 - float(losses[-1]) / before  # (1)
    if fall < MIN_FALL_AT_END or float(losses[-1]) > float(losses.min()):
        return ()
    return (Value(name, f"{fall:.0%}", meaning="the last quarter of the steps", id="fall-at-end"),)


def _below_kernel(run: TrainingRun, products: StepProducts) -> tuple[Finding, ...]:
    """Reports a problem if the trained network scores below its initial tangent kernel on held-out examples."""
    data, kernel = products.get(DataSummary), products.get(ProbeKernel)
    prediction = None if kernel is None else kernel.prediction
    known = prediction is not None and data is not None and data.largest_class is not None
    if run.accuracy is None or run.diverges or prediction is None or not known:
        return ()
    last, score = float(run.accuracy[-1]), prediction.accuracy
    if score is None or score - last <= 0.1:
        return ()
    return (Finding(kinds.UNDERTRAINED, "optimizer", {"last": last, "score": score}),)


def _overfit(run: TrainingRun, classes: int) -> tuple[Finding, ...]:
    """Reports a problem if the test loss rose considerably during training, or without a break until its end."""
    if run.test_loss is None or run.diverges:
        return ()
    least, last, first = (float(loss) for loss in (run.test_loss.min(), run.test_loss[-1], run.test_loss[0]))
    nothing = min(abs(first), log(classes)) if classes > 1 else abs(first)
    if last - least <= max(MIN_RISE, MIN_TEST_LOSS_RISE * nothing):
        return ()
    if last <= LARGE_RISE * least and (classes > 1 or not _rises_until_the_end(run)):
        return ()
    step = int(run.steps[int(run.test_loss.argmin())])
    return (Finding(kinds.TEST_LOSS_ROSE, "optimizer", {"least": least, "step": step, "last": last}),)


def _rises_until_the_end(run: TrainingRun) -> bool:
    """Checks whether the test loss has risen at each of the last measurements while the training loss fell.

    If the recorded losses were only noise around a constant, this would happen with probability 1 / 5! = 0.8 %.
    """
    assert run.test_loss is not None
    test, train = run.test_loss[-MIN_RISING_LOSSES:], run.loss[-MIN_RISING_LOSSES:]
    return len(test) == MIN_RISING_LOSSES and bool((test.diff() > 0).all()) and float(train[-1]) < float(train[0])


def compare_with_prediction(run: TrainingRun, products: StepProducts) -> tuple[Value, ...]:
    """Returns the loss that theory (a constant tangent kernel) predicts after as many steps as training took.

    For gradient descent at its own learning rate; for other rules at half of the largest stable one, the best that
    gradient descent could do.
    """
    predicted, lr, way = products.get(Trajectory), predicted_rate(run, products), as_gradient_descent(run.optimizer)
    if predicted is None or lr is None:
        return ()
    if float(run.steps[-1]) * lr > 1.01 * float(predicted.times[-1]):
        return ()
    place = int(torch.searchsorted(predicted.times, float(run.steps[-1]) * lr).clamp(max=len(predicted.times) - 1))
    rule = "at its learning rate" if way is not None else "by gradient descent at half of the largest stable rate"
    return (
        Value(
            "training loss, predicted",
            float(predicted.loss[place]),
            meaning=f"after the same number of steps {rule}",
            id="training-loss-predicted",
        ),
    )


def _disagreement(run: TrainingRun, predicted: tuple[Value, ...]) -> str:
    """Returns a sentence if predicted and measured loss differ by more than a threshold factor; otherwise an empty
    string.
    """
    if not predicted or run.diverges:
        return ""
    wanted, got = float(predicted[0].value), float(run.loss[-1])
    if max(wanted, got) <= REPORTED_LOSS_FACTOR * min(wanted, got) or abs(wanted - got) < 0.05 * float(run.loss[0]):
        return ""
    plain = as_gradient_descent(run.optimizer) is not None
    if got < wanted:
        why = (
            "training learned better features"
            if plain
            else f"training learned better features, or {run.optimizer.name} is faster"
        )
        return f" With its initial features the loss would have reached only {wanted:.3g} (theory): {why}."
    return (
        f" With its initial features alone, the network could reach {wanted:.3g} after the same number of steps "
        f"(theory): the training "
        f"loss can still fall."
    )
