"""Examination step that evaluates the predictions of the network: accuracy, margins, calibration, hardest examples."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gnomon.checks.run.guessing import MIN_EXAMPLES, guessing_findings, regression_guessing_findings
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.inputs.strata import stratified_sample
from gnomon.core.metrics import explained_variance
from gnomon.core.results import Axis, Histogram, Plot, QuantityDefinition, Value
from gnomon.core.results.record import Record
from gnomon.decisions.calibration import Calibration, calibration
from gnomon.decisions.margins import MAX_NAMED_EXAMPLES, Margins, margins, probabilities
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.decision_plots import (
    class_table,
    confusion_counts,
    confusion_plot,
    prediction_plots,
    two_class_plots,
)
from gnomon.examination.good_results import MIN_AVOIDED_ERROR
from gnomon.examination.levels import significance_level
from gnomon.examination.score_intervals import explained_variance_interval
from gnomon.examination.step import (
    NOT_TRAINED_LONG_ENOUGH,
    SKIPPED_AFTER_DIVERGENCE,
    SKIPPED_WITHOUT_TRAINING,
    TRAINING_NOT_FINISHED,
    AbstractStep,
    StepContext,
    StepProducts,
    StepResult,
    StepSkipped,
)
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.data import DataSummary
from gnomon.examination.subject import Subject
from gnomon.examination.summary import count_with_noun
from gnomon.examination.timed import out_of_time_error
from gnomon.report import PageContent
from gnomon.training import TrainingRun

SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Numbers of evaluated examples if the time does not suffice for all."""
EXAMPLES_PER_READ = 256
"""Number of examples read at once."""

MIN_EXPLAINED = 0.05
"""Minimum explained share of the variance of test targets that shows a relation to the inputs. Without a relation,
chance explains less than one percent of the variance of 200 examples."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions(Record):
    """Result: margins and calibration of a classifier, or the explained variance of a regression network.

    ``errors`` holds a number for each of the examples ``index``: 1 if its class is wrong and 0 if it is right, or
    its squared error.
    """

    index: Tensor
    errors: Tensor
    margins: Margins | None = None
    calibration: Calibration | None = None
    explained: float | None = None


class MarginsStep(AbstractStep):
    """Examination step that reports margins, calibration error and hardest examples; for regression, the largest
    errors.
    """

    key, title, share = "margins", "Accuracy and confidence", 0.05
    question = "How accurate is the network, and does its confidence match its accuracy?"
    needs = (NetworkProfile,)
    uses = (TrainingRun, DataSummary, DataChecks)
    gives = Decisions
    states = ("labels_related", "does_well", "good_results")
    rests_on = ("examples", "decisions")

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run = products.get(TrainingRun)
        if run is None and context.fit:
            raise StepSkipped(SKIPPED_WITHOUT_TRAINING)
        if run is not None and run.diverges:
            raise StepSkipped(SKIPPED_AFTER_DIVERGENCE)
        model = subject.module if run is None else run.model
        source, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        index = _draw(source, products[NetworkProfile], context)
        pieces = [subject.examples(source.at(part)) for part in index.split(EXAMPLES_PER_READ)]
        f = torch.cat([subject.outputs(part.x, model) for part in pieces]).double()
        y = torch.cat([part.y for part in pieces])
        if not bool(torch.isfinite(f).all()):
            raise StepSkipped("Skipped: some outputs are not finite.")
        short = "" if run is None else run.shortage
        if not subject.task.classes:
            if not subject.asks_for_targets:
                raise StepSkipped(
                    "Skipped: your loss does not compare outputs with targets directly, so "
                    "gnomon cannot compute an error."
                )
            result = _regression(f, y, which, index, trained=run is not None, short=bool(short))
        else:
            result = _classification(probabilities(f), y, which, index, trained=run is not None, short=bool(short))
        result = replace(result, content=_with_plots(result.content, subject, f, y, which))
        result = _add_comparison_with_simple_model(result, products.get(DataChecks))
        return replace(_mark_as_unfinished(result, short), facts=_facts(result.product, products))


def _with_plots(content: PageContent, subject: Subject, f: Tensor, y: Tensor, which: str) -> PageContent:
    """Adds plots to a report section: confusion matrix and class scores, or predicted over true values."""
    if not subject.task.classes:
        return replace(content, plots=(*prediction_plots(f, y.double(), which), *content.plots))
    p, names = probabilities(f), [subject.class_name(c) for c in range(subject.task.classes)]
    counts = confusion_counts(p.argmax(1), y, len(names))
    curves = two_class_plots(p[:, 1].cpu(), (y == 1).cpu(), names[1]) if len(names) == 2 else ()
    shown = (*confusion_plot(counts, names, f"{which} examples"), *curves, *content.plots)
    return replace(content, plots=shown, tables=class_table(counts, names))


def _add_comparison_with_simple_model(result: StepResult, checks: DataChecks | None) -> StepResult:
    """Adds to the report's answer that a simple model is clearly better, if it is; the answer then no longer counts as
    good.
    """
    margin, content = result.product.margins, result.content
    simple = None if checks is None or not checks.related else checks.simple
    if margin is None or simple is None or simple <= margin.accuracy_interval.high or content.findings:
        return result
    answer = f"{content.answer} A simple model (kernel regression) is right on {simple:.1%} of held-out examples."
    return replace(result, content=replace(content, answer=answer, good_news=False))


def _facts(decisions: Decisions, products: StepProducts) -> dict[str, bool]:
    """Determines whether the trained network beats guessing on held-out examples and matches a simple model.

    "As good" means: within the interval of its accuracy.
    """
    data, checks, run = products.get(DataSummary), products.get(DataChecks), products.get(TrainingRun)
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
    held_out = run is not None and run.test_loss is not None and not run.diverges
    good = held_out and decisions.explained is not None and decisions.explained >= MIN_AVOIDED_ERROR
    return {"labels_related": related, "does_well": well, "good_results": good}


def _draw(source: AbstractSource, profile: NetworkProfile, context: StepContext) -> Tensor:
    """Returns indices of the examples to evaluate: all, or a stratified sample that needs at most half of the time."""
    n = len(source)
    affordable = (
        0.5 * context.seconds / max(profile.cost.each, 1e-9)
    )  # Leaves time for two forward passes; each takes about a third of a training pass
    if affordable >= n:
        return torch.arange(n)
    most = largest_size_up_to(SIZES, affordable)
    if most > 6 * affordable:  # The data are too large even for a single pass in the time left.
        raise out_of_time_error(f"A pass over {most} examples", most * profile.cost.each / 3, context)
    return stratified_sample(n, source.labels(), most, seed=context.seed)


def _mark_as_unfinished(result: StepResult, short: str) -> StepResult:
    """Adds to the report's answer that the network had not finished training, unless there are findings."""
    if not short:
        return result
    content = replace(
        result.content, answer=f"{NOT_TRAINED_LONG_ENOUGH} {TRAINING_NOT_FINISHED} {result.content.answer}"
    )
    return StepResult(content, result.product, "unsure")


def _classification(p: Tensor, y: Tensor, which: str, index: Tensor, *, trained: bool, short: bool) -> StepResult:
    margin, judged = margins(p, y), calibration(p, y, level=significance_level("calibration"))
    hardest = index[torch.tensor(margin.hardest)].tolist()
    state = "" if trained else ", network not trained"
    values = (
        Value(
            "accuracy",
            margin.accuracy,
            margin.accuracy_interval,
            meaning=f"{len(y)} {which} examples{state}",
            id="accuracy",
        ),
        Value(
            "smallest margin",
            margin.smallest,
            meaning="probability of the right class minus the largest other probability",
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
            meaning="indices of the examples, hardest first",
            id="hardest-examples",
        ),
    )
    subject = "The trained network" if trained else "The network as given, without training,"
    guesses = () if short else guessing_findings(p, y, data_name=which, trained=trained)
    score = f"{subject} is right on {margin.accuracy:.1%} of {which} examples. {_sure(judged)}"
    answer = guesses[0].message if guesses else score
    definition = QuantityDefinition(
        "Σ_b |B_b|/n · |acc(B_b) − conf(B_b)|", "expected calibration error", "guo2017calibration"
    )
    tells = not short and len(y) >= MIN_EXAMPLES
    findings = guesses or (judged.findings if tells else ())  # The calibration of a network that guesses means nothing.
    plots = margin.plots() + judged.plots()
    content = PageContent(answer, findings, values, plots, (definition,), data={"hardest": hardest}, stated=guesses)
    return _few(StepResult(content, Decisions(index, (p.argmax(1) != y).double(), margin, judged)), len(y))


def _sure(judged: Calibration) -> str:
    """Returns a sentence that compares the mean confidence with the accuracy."""
    return f"The mean confidence is {judged.confidence:.1%}: {judged.judgment}."


def _few(result: StepResult, n: int) -> StepResult:
    """Marks the report's answer as unsure if there are too few examples to measure the accuracy."""
    if n >= MIN_EXAMPLES or result.content.findings:
        return result
    answer = f"{result.content.answer} {count_with_noun(n, 'example')} are too few to measure the accuracy."
    return StepResult(replace(result.content, answer=answer), result.product, "unsure")


def _regression(
    f: Tensor, y: Tensor, which: str, index: Tensor, *, trained: bool, short: bool
) -> StepResult:  # fmt: skip
    y = y.double()
    residual, explained = (f - y).square().mean(1).sqrt(), explained_variance(f, y)
    hardest = index[residual.topk(min(MAX_NAMED_EXAMPLES, len(f))).indices].tolist()
    state = "" if trained else ", network not trained"
    error, spread = float(residual.square().mean().sqrt()), float(y.var(0, correction=0).mean().sqrt())
    values = (
        Value("root mean square error", error, meaning=f"{which} examples{state}", id="root-mean-square-error"),
        Value(
            "explained variance",
            explained,
            explained_variance_interval(f, y),
            meaning=f"{len(y)} {which} examples",
            id="explained-variance",
        ),
        Value(
            "hardest examples",
            ", ".join(map(str, hardest)),
            meaning="indices of the examples, hardest first",
            id="hardest-examples",
        ),
    )
    subject = "The trained network" if trained else "The network as given, without training,"
    worse = " Always predicting the mean of the targets would be better." if explained < 0 else ""
    size = f"the typical error is {error:.3g}, the standard deviation of the targets {spread:.3g}"
    answer = f"{subject} explains {max(explained, 0.0):.1%} of the variance of the {which} targets: {size}.{worse}"
    errors = Histogram.of("examples", residual)
    words = (
        f"This plot shows how far predictions are from targets; the standard deviation of the targets is {spread:.3g}."
    )
    plot = Plot("Errors", (errors,), Axis("absolute error"), Axis("examples"), words, id="errors")
    findings = () if short else regression_guessing_findings(explained, len(y), data_name=which, trained=trained)
    content = PageContent(answer, findings, values, (plot,), data={"hardest": hardest})
    return _few(StepResult(content, Decisions(index, residual.square(), explained=explained)), len(y))
