"""The decisions of the network: margins, calibration, and the examples that are hardest."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnomon.checks.run.guessing import MIN_EXAMPLES, guessing_findings, number_guessing_findings
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.metrics import explained_variance
from gnomon.core.results import Axis, Definition, Histogram, Plot, Value
from gnomon.core.results.record import Record
from gnomon.decisions.calibration import Calibration, calibration
from gnomon.decisions.margins import NAMED_EXAMPLES, Margins, margins, probabilities
from gnomon.examination.cost import rung
from gnomon.examination.levels import level
from gnomon.examination.step import (
    DIVERGED,
    NOT_ENOUGH,
    ON_ITS_WAY,
    UNTRAINED,
    AbstractStep,
    Context,
    Products,
    Skipped,
    StepResult,
)
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.data import DataSummary
from gnomon.examination.subject import Subject
from gnomon.examination.summary import count_with_noun
from gnomon.examination.timed import needs
from gnomon.report import Content
from gnomon.training import Run

SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Numbers of examples that are judged, where the time does not allow all."""
EXAMPLES_PER_READ = 256
"""Examples that are read at once."""

MIN_EXPLAINED = 0.05
"""Share of the variance of test targets that a network explains only if these are related to their inputs: with 200
examples and no relation, chance explains less than one percent."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions(Record):
    """Margins and calibration of a classifier; the share of the variance that a regression explains.

    ``errors`` holds a number for each of the examples ``index``: 1 where its class is wrong and 0 where it is right, or
    its squared error.
    """

    index: Tensor
    errors: Tensor
    margins: Margins | None = None
    calibration: Calibration | None = None
    explained: float | None = None


class MarginsStep(AbstractStep):
    """Margin distribution, expected calibration error, hardest examples; for regression the largest residuals."""

    key, title, share = "margins", "How good and how sure it is", 0.05
    question = "How well does it do, and can its confidence be taken at its word?"
    needs = (Profile,)
    uses = (Run, DataSummary, DataChecks)
    gives = Decisions
    states = ("labels_related", "does_well")
    rests_on = ("examples", "decisions")

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        run = products.get(Run)
        if run is None and context.fit:
            raise Skipped(UNTRAINED)
        if run is not None and run.diverges:
            raise Skipped(DIVERGED)
        model = subject.module if run is None else run.model
        source, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        index = _draw(source, products[Profile], context)
        pieces = [subject.examples(source.at(part)) for part in index.split(EXAMPLES_PER_READ)]
        f = torch.cat([subject.outputs(part.x, model) for part in pieces]).double()
        y = torch.cat([part.y for part in pieces])
        if not bool(torch.isfinite(f).all()):
            raise Skipped("Some outputs are not finite.")
        short = "" if run is None else run.shortage
        if not subject.task.classes:
            if not subject.asks_for_targets:
                raise Skipped("The loss does not ask the outputs to be the targets: what an error is, only it knows.")
            result = _regression(f, y, which, index, trained=run is not None, short=bool(short))
        else:
            result = _classification(probabilities(f), y, which, index, trained=run is not None, short=bool(short))
        return replace(_mark_as_unfinished(result, short), facts=_facts(result.product, products))


def _facts(decisions: Decisions, products: Products) -> dict[str, bool]:
    """Whether training beats a guess on held-out examples, and whether the network is as good as a simple model.

    "As good" means: within the interval of its accuracy.
    """
    data, checks, run = products.get(DataSummary), products.get(DataChecks), products.get(Run)
    margin, guess = decisions.margins, None if data is None else data.largest_class
    related = False
    if run is not None and run.test_loss is not None and decisions.explained is not None:
        related = decisions.explained > MIN_EXPLAINED
    elif run is not None and run.test_accuracy is not None and margin is not None and guess is not None:
        related = margin.accuracy_interval.low > guess
    well = False
    if margin is not None and checks is not None and checks.related and checks.simple is not None:
        short = run is not None and (run.diverges or bool(run.shortage))
        well = not short and margin.accuracy_interval.high >= checks.simple
    return {"labels_related": related, "does_well": well}


def _draw(source: AbstractSource, profile: Profile, context: Context) -> Tensor:
    """Numbers of the examples that are judged: all, or as many as half of the time allows; of each class its share."""
    n = len(source)
    affordable = 0.5 * context.seconds / max(profile.cost.each, 1e-9)  # a forward pass is a third of that: twice over
    if affordable >= n:
        return torch.arange(n)
    most = rung(SIZES, affordable)
    if most > 6 * affordable:  # not even in all of the time
        raise needs(f"A pass over {most} examples", most * profile.cost.each / 3, context)
    return stratified_sample(n, source.labels(), most, seed=context.seed)


def _mark_as_unfinished(result: StepResult, short: str) -> StepResult:
    """The same numbers, said to be those of a network on its way."""
    if not short:
        return result
    content = replace(result.content, answer=f"{NOT_ENOUGH} {ON_ITS_WAY} {result.content.answer}")
    return StepResult(content, result.product, "unsure")


def _classification(p: Tensor, y: Tensor, which: str, index: Tensor, *, trained: bool, short: bool) -> StepResult:
    margin, judged = margins(p, y), calibration(p, y, level=level("calibration"))
    hardest = index[torch.tensor(margin.hardest)].tolist()
    state = "trained" if trained else "as it was given"
    values = (
        Value(
            "accuracy",
            margin.accuracy,
            margin.accuracy_interval,
            meaning=f"{which} examples, network {state}",
            id="accuracy",
        ),
        Value(
            "smallest margin",
            margin.smallest,
            meaning="probability of the right class minus the best other",
            id="smallest-margin",
        ),
        Value("median margin", margin.median, id="median-margin"),
        Value(
            "expected calibration error",
            judged.error,
            meaning=f"{len(judged.bins)} bins of equal size",
            id="calibration-error",
        ),
        Value("mean confidence", judged.confidence, id="mean-confidence"),
        Value(
            "hardest examples",
            ", ".join(map(str, hardest)),
            meaning="their numbers, hardest first",
            id="hardest-examples",
        ),
    )
    subject = "The trained network" if trained else "The network as it was given, without training,"
    guesses = () if short else guessing_findings(p, y, which=which, trained=trained)
    score = f"{subject} is right on {margin.accuracy:.1%} of {which} examples. {_sure(judged)}"
    answer = guesses[0].message if guesses else score
    definition = Definition("Σ_b |B_b|/n · |acc(B_b) − conf(B_b)|", "expected calibration error", "guo2017calibration")
    tells = not short and len(y) >= MIN_EXAMPLES
    findings = guesses or (judged.findings if tells else ())  # how sure a network is that guesses says nothing
    plots = margin.plots() + judged.plots()
    content = Content(answer, findings, values, plots, (definition,), data={"hardest": hardest}, stated=guesses)
    return _few(StepResult(content, Decisions(index, (p.argmax(1) != y).double(), margin, judged)), len(y))


def _sure(judged: Calibration) -> str:
    """How sure it is, without saying again how often it is right."""
    return f"It is {judged.confidence:.1%} sure of its answers on average: {judged.judgment}."


def _few(result: StepResult, n: int) -> StepResult:
    """The same, said to be judged on too few examples where it is."""
    if n >= MIN_EXAMPLES or result.content.findings:
        return result
    answer = f"{result.content.answer} {count_with_noun(n, 'example')} cannot tell how good it is."
    return StepResult(replace(result.content, answer=answer), result.product, "unsure")


def _regression(
    f: Tensor, y: Tensor, which: str, index: Tensor, *, trained: bool, short: bool
) -> StepResult:  # fmt: skip
    y = y.double()
    residual, explained = (f - y).square().mean(1).sqrt(), explained_variance(f, y)
    hardest = index[residual.topk(min(NAMED_EXAMPLES, len(f))).indices].tolist()
    state = "trained" if trained else "as it was given"
    error, spread = float(residual.square().mean().sqrt()), float(y.var(0, correction=0).mean().sqrt())
    values = (
        Value(
            "root mean square error", error, meaning=f"{which} examples, network {state}", id="root-mean-square-error"
        ),
        Value("explained variance", explained, id="explained-variance"),
        Value(
            "hardest examples",
            ", ".join(map(str, hardest)),
            meaning="their numbers, hardest first",
            id="hardest-examples",
        ),
    )
    subject = "The trained network" if trained else "The network as it was given, without training,"
    worse = " That is worse than always predicting their mean." if explained < 0 else ""
    size = f"its errors are typically {error:.3g}, where the targets spread by {spread:.3g}"
    answer = f"{subject} explains {max(explained, 0.0):.1%} of the variance of the {which} targets: {size}.{worse}"
    errors = Histogram.of("examples", residual)
    words = f"How far predictions are from their targets; the targets themselves spread by {spread:.3g}."
    plot = Plot("Errors", (errors,), Axis("absolute error"), Axis("examples"), words, id="errors")
    findings = () if short else number_guessing_findings(explained, len(y), which=which, trained=trained)
    content = Content(answer, findings, values, (plot,), data={"hardest": hardest})
    return _few(StepResult(content, Decisions(index, residual.square(), explained=explained)), len(y))
