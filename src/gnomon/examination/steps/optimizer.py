"""Examination step that tries the user's optimizer in short runs with smaller and larger learning rates."""

from dataclasses import dataclass
from statistics import median

from gnomon.checks.run.step_size import MAX_SHORT_RUNS, learning_rate_findings, short_runs
from gnomon.checks.run.update_ratio import update_ratio_findings, update_ratios
from gnomon.core.results import Axis, Bars, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, StepSkipped, require_gradients
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.wiring import user_batch_size
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.examination.timed import out_of_time_error
from gnomon.report import PageContent
from gnomon.training import TrainingRun

MAX_SHORT_RUN_STEPS = 40
"""Steps of a short run, at most."""
MIN_SHORT_RUN_STEPS = 12
"""Steps of a short run, at least."""
DEFAULT_BATCH_SIZE = 32
"""Examples in a batch if none is given."""
MAX_TIME_FACTOR = 4
"""The step may take this multiple of its time share: no other step judges the learning rate of any optimizer."""
SMALLER_RATE_FACTORS = (1.0, 0.1, 0.01)
"""Multiples of the learning rate that are tried if smaller rates are in question and time is short."""
LARGER_RATE_FACTORS = (1.0, 10.0, 100.0)
"""Multiples of the learning rate that are tried if larger rates are in question and time is short."""
SUFFICIENT_LOSS_DECREASE = 0.1
"""If the whole run reduced the loss by this share, no other rate needs to be tried."""
SMALL_BATCH_SIZE = 16
"""Examples in a batch if time is short and none is given."""
EXAMPLES = (64, 128, 256, 512)
"""Examples on which the loss is measured."""
EVALUATION_PASSES = 4 / 3
"""Cost of the four loss evaluations, in passes with gradients."""


@dataclass(frozen=True, slots=True)
class ShortRuns(Record):
    """Result: how far the loss falls in short runs, for each multiple of the learning rate."""

    falls: tuple[tuple[float, float], ...]


class OptimizerStep(AbstractStep):
    """Examination step that runs a few training steps with the user's learning rate, and with rates 0.01 to 100 times
    as large.
    """

    key, title, share = "optimizer", "Other learning rates, tried", 0.1
    question = "Does another learning rate do much better in the first steps?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = ShortRuns
    states = ("learning_rates_tried",)

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return subject.optimizer is not None

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        require_gradients(subject)
        if subject.optimizer is None:
            raise StepSkipped("Skipped: no optimizer was given. Pass optimizer=torch.optim.Adam, or any other.")
        named, whole = user_batch_size(subject), products.get(TrainingRun)
        each, batch = max(products[NetworkProfile].seconds_per_example, 1e-9), min(named or DEFAULT_BATCH_SIZE, 128)
        some, steps = _affordable(subject, batch, MAX_SHORT_RUNS * each, context)
        factors: tuple[float, ...] = ()
        if steps < MIN_SHORT_RUN_STEPS and whole is not None:
            factors, batch = _side(whole), min(named or SMALL_BATCH_SIZE, 128)
            some, steps = _affordable(subject, batch, len(factors) * each, context)
        if steps < MIN_SHORT_RUN_STEPS:
            least = (MIN_SHORT_RUN_STEPS * batch + EVALUATION_PASSES * len(some)) * MAX_SHORT_RUNS * each
            raise out_of_time_error(
                f"{MIN_SHORT_RUN_STEPS} steps in each of {MAX_SHORT_RUNS} short runs", least, context
            )
        loss = subject.recipe.own_loss or subject.task.loss
        falls, start = short_runs(
            subject.module, some.x, subject.loss_targets(some.y), loss=loss, optimizer=subject.optimizer, steps=steps,
            batch=min(batch, len(some)), seed=context.seed, factors=factors,
        )  # fmt: skip
        lr = subject.optimizer.lr
        reached = (
            None if whole is None else start - float(whole.loss[-1])
        )  # The comparison starts from the same initial weights as the short runs
        findings = learning_rate_findings(falls, start=start, lr=lr, steps=steps, fall_in_whole_run=reached)
        ratios = update_ratios(
            subject.module, some.x, subject.loss_targets(some.y), loss=loss, optimizer=subject.optimizer,
            batch=min(batch, len(some)), seed=context.seed,
        )  # fmt: skip
        if whole is not None:
            findings += update_ratio_findings(ratios, lr=lr)
        values = tuple(
            Value(f"decrease of the loss with lr={lr * c:.3g}", g, id=f"fall-at-{lr * c:.3g}")
            for c, g in sorted(falls.items())
        )
        if ratios:
            usual = "median over the layers, for each of the first steps; usual: about 1e-3"
            values += (Value("update of the weights over their size", median(ratios.values()), meaning=usual,
                             id="update-ratio"),)  # fmt: skip
        # A NaN loss fails every comparison, so it counts as a rise of the loss.
        rose = not findings and not any(fall >= 0 for fall in falls.values())
        good = f"In {steps} steps no other learning rate does much better than {lr:.3g}."
        if rose:
            tried = f"from {lr * min(falls):.3g} to {lr * max(falls):.3g}"
            good = f"In {steps} steps the loss rose with every learning rate tried, {tried}."
        bars = Bars("decrease of the loss", [f"{lr * c:.3g}" for c in sorted(falls)], [falls[c] for c in sorted(falls)])
        plot = Plot(
            "Short runs",
            (bars,),
            Axis("decrease of the loss"),
            caption="Each bar shows how much the loss falls in a short run with one learning rate.",
            id="short-runs",
        )
        definition = QuantityDefinition(
            "g(c) = L(0) − L(k steps at c · lr)", "decrease of the loss", "smith2017cyclical"
        )
        content = PageContent(
            findings[0].message if findings else good, findings, values, (plot,), (definition,), stated=findings[:1]
        )
        # Only smaller learning rates were tried, so a larger one may still be better.
        one_side = factors == SMALLER_RATE_FACTORS and not findings
        unsure = one_side or rose
        runs, facts = ShortRuns(tuple(sorted(falls.items()))), {"learning_rates_tried": not findings and not unsure}
        return StepResult(content, runs, "unsure" if unsure else "answered", facts)


def _affordable(subject: Subject, batch: int, each: float, context: StepContext) -> tuple[Examples, int]:
    """Chooses on how many examples the loss is measured, and how many steps each short run gets, for the time left."""
    some = subject.probe.some(largest_size_up_to(EXAMPLES, 0.15 * context.seconds / each))
    looking = EVALUATION_PASSES * len(some)
    steps = int(min(MAX_SHORT_RUN_STEPS, (0.9 * context.seconds / each - looking) / batch))
    if (
        steps < MIN_SHORT_RUN_STEPS
        and (MIN_SHORT_RUN_STEPS * batch + looking) * each < MAX_TIME_FACTOR * context.seconds
    ):
        steps = MIN_SHORT_RUN_STEPS
    return some, steps


def _side(whole: TrainingRun) -> tuple[float, ...]:
    """Chooses which other learning rates to try: smaller ones if the loss rose, larger ones if it hardly fell."""
    first, last = float(whole.loss[0]), float(whole.loss[-1])
    if not last < first:
        return SMALLER_RATE_FACTORS
    if first - last < SUFFICIENT_LOSS_DECREASE * abs(first):
        return LARGER_RATE_FACTORS
    raise StepSkipped(
        f"No time to try other learning rates; with the learning rate of the run the loss fell from {first:.3g} to "
        f"{last:.3g}."
    )
