"""The optimizer that the user named: short runs with a smaller and with larger learning rates."""

from dataclasses import dataclass

from gnomon.checks.run.step_size import RUNS, short_runs, step_size_findings
from gnomon.core.results import Axis, Bars, Definition, Plot, Value
from gnomon.core.results.record import Record
from gnomon.examination.cost import rung
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult, require_gradients
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.steps.wiring import batch_of
from gnomon.examination.subject import Examples, Subject
from gnomon.examination.timed import needs
from gnomon.report import Content
from gnomon.training import Run

STEPS, LEAST, BATCH = 40, 12, 32
"""Steps of a short run at most and at least, and examples of a batch where none are named."""
LONGER = 4
"""Times its share that the step may take for the fewest steps: nothing else judges a learning rate of any optimizer."""
SMALLER, LARGER, FELL, SMALL = (1.0, 0.1, 0.01), (1.0, 10.0, 100.0), 0.1, 16
"""Multiples of the rate that are tried where there is no time for more, the part of the first loss that the whole run
must have saved for none to be needed, and the examples of a batch then, where none are named."""
EXAMPLES = (64, 128, 256, 512)
"""Examples on which the loss is measured."""
LOOKING = 4 / 3
"""Passes with gradients that the four passes without them are worth, by which the loss is measured."""


@dataclass(frozen=True, slots=True)
class ShortRuns(Record):
    """The fall of the loss after some steps, by the factor of the learning rate."""

    falls: tuple[tuple[float, float], ...]


class OptimizerStep(AbstractStep):
    """Runs of at most 40 steps with the learning rate and with some from a hundredth to a hundred times as large."""

    key, title, share = "optimizer", "The learning rate, tried", 0.1
    question = "Does another learning rate do far better in the first steps?"
    needs = (Profile,)
    uses = (Run,)
    gives = ShortRuns
    states = ("learning_rates_tried",)

    def possible(self, subject: Subject, products: Products, *, fit: bool) -> bool:  # noqa: D102
        return subject.optimizer is not None

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        require_gradients(subject)
        if subject.optimizer is None:
            raise Skipped("No optimizer was named: pass optimizer=torch.optim.Adam, or any other.")
        named, whole = batch_of(subject), products.get(Run)
        each, batch = max(products[Profile].seconds_per_example, 1e-9), min(named or BATCH, 128)
        some, steps = _affordable(subject, batch, RUNS * each, context)
        factors: tuple[float, ...] = ()
        if steps < LEAST and whole is not None:
            factors, batch = _side(whole), min(named or SMALL, 128)
            some, steps = _affordable(subject, batch, len(factors) * each, context)
        if steps < LEAST:
            least = (LEAST * batch + LOOKING * len(some)) * RUNS * each
            raise needs(f"{LEAST} steps in each of {RUNS} short runs", least, context)
        loss = subject.recipe.own_loss or subject.task.loss
        falls, start = short_runs(
            subject.module, some.x, subject.loss_targets(some.y), loss=loss, optimizer=subject.optimizer, steps=steps,
            batch=min(batch, len(some)), seed=context.seed, factors=factors,
        )  # fmt: skip
        lr = subject.optimizer.lr
        reached = None if whole is None else start - float(whole.loss[-1])  # from the same start as the short runs
        findings = step_size_findings(falls, start=start, lr=lr, steps=steps, reached=reached)
        values = tuple(
            Value(f"fall of the loss with lr={lr * c:.3g}", g, id=f"fall-at-{lr * c:.3g}")
            for c, g in sorted(falls.items())
        )
        rose = not findings and not any(fall >= 0 for fall in falls.values())  # NaN is a rise as well
        good = f"In {steps} steps no other learning rate does far better than {lr:.3g}."
        if rose:
            tried = f"from {lr * min(falls):.3g} to {lr * max(falls):.3g}"
            good = f"In {steps} steps the loss rose with every learning rate that was tried, {tried}."
        bars = Bars("fall of the loss", [f"{lr * c:.3g}" for c in sorted(falls)], [falls[c] for c in sorted(falls)])
        plot = Plot(
            "Short runs", (bars,), Axis("fall of the loss"), caption="By learning rate; one run each.", id="short-runs"
        )
        definition = Definition("g(c) = L(0) − L(k steps at c · lr)", "fall of the loss", "smith2017cyclical")
        content = Content(
            findings[0].message if findings else good, findings, values, (plot,), (definition,), stated=findings[:1]
        )
        one_side = factors == SMALLER and not findings  # larger ones were not tried
        unsure = one_side or rose
        runs, facts = ShortRuns(tuple(sorted(falls.items()))), {"learning_rates_tried": not findings and not unsure}
        return StepResult(content, runs, "unsure" if unsure else "answered", facts)


def _affordable(subject: Subject, batch: int, each: float, context: Context) -> tuple[Examples, int]:
    """Examples that the loss is measured on and steps of a run, where one example takes so long in all runs."""
    some = subject.probe.some(rung(EXAMPLES, 0.15 * context.seconds / each))
    looking = LOOKING * len(some)
    steps = int(min(STEPS, (0.9 * context.seconds / each - looking) / batch))
    if steps < LEAST and (LEAST * batch + looking) * each < LONGER * context.seconds:
        steps = LEAST
    return some, steps


def _side(whole: Run) -> tuple[float, ...]:
    """Smaller rates where the loss of the whole run has risen, larger ones where it hardly fell; otherwise none."""
    first, last = float(whole.loss[0]), float(whole.loss[-1])
    if not last < first:
        return SMALLER
    if first - last < FELL * abs(first):
        return LARGER
    raise Skipped(f"No time to try other learning rates; with this one the loss fell from {first:.3g} to {last:.3g}.")
