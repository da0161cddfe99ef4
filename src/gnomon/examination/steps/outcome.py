"""Examination step that compares the trained network with guessing and a simple model, on train and test."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from gnomon.adapter.reading import OutputMeaning
from gnomon.adapter.scores import score_decisions
from gnomon.adapter.users_loss import call_user_loss
from gnomon.checks import find_explosion, simple_model_baseline
from gnomon.checks.data.baseline import SimpleModelBaseline
from gnomon.checks.data.repeated_value import repeated_value_findings
from gnomon.checks.data.weak_segments import weak_segment_findings
from gnomon.checks.network.applied import predictions_of_loss
from gnomon.checks.network.signal import trained_unit_findings
from gnomon.checks.run.guessing import MIN_EXAMPLES
from gnomon.checks.run.outcome import AccuracyOutcome, advice_for_overfitting, outcome_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings
from gnomon.checks.run.rare_classes import rare_class_findings
from gnomon.core.inputs.source import AbstractSource
from gnomon.core.losses import AbstractLoss
from gnomon.core.metrics import predicted_classes
from gnomon.core.results import Finding, Plot, Value
from gnomon.core.results.record import Record
from gnomon.examination.advice import advice_for_underfit
from gnomon.examination.cost import largest_size_up_to
from gnomon.examination.pictures import score_bars
from gnomon.examination.poor_results import has_poor_scores, is_poor_score
from gnomon.examination.positions import decisions_at_positions
from gnomon.examination.small_runs import batch_findings, first_loss_findings
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.wiring import trained_statistics_findings
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.examination.timed import out_of_time_error
from gnomon.examination.why_not_fitted import design_findings
from gnomon.findings import data as data_kinds
from gnomon.findings import most_serious_first, training
from gnomon.report import PageContent
from gnomon.report.table import PageTable
from gnomon.training import TrainingRun

LADDER = (64, 128, 256, 512, 1024)
"""Numbers of training and test examples on which the trained network is evaluated, chosen by time."""
ACTIVITY_EXAMPLES = 64
"""Number of examples for counting dead units."""
MAX_STATISTICS_EXAMPLES = 256
"""Maximum number of examples for checking the running statistics of batch norm."""
DID_NOT_FIT = (
    training.NOT_LEARNING, training.NOTHING_LEARNED, training.HARDLY_LEARNED, training.UNDERFIT,
    training.REGRESSION_NOT_LEARNING, training.REGRESSION_NOTHING_LEARNED, training.REGRESSION_UNDERFIT,
    training.FAR_BELOW_SIMPLE, training.REGRESSION_FAR_BELOW_SIMPLE,
)  # fmt: skip
"""Findings for a network that did not reach the score of a simple model."""
MIN_REPORTED_LEAD = 0.02
"""Minimum lead of a simple model over the network that is reported."""
MAX_BASELINE_EXAMPLES = 2500
"""Examples for fitting and judging a simple model, at most."""
NOT_COMPARED = (
    "The network has no dead units and no outdated averages of batch norm. gnomon did not compare it with a simple "
    "model, because only your loss "
    "measures how good the outputs are."
)
MIN_BASELINE_SHARE = 0.5
"""Share of the network's gain over guessing that a simple model must reach before its learning curve means anything."""
EVALUATION_PASSES = 1.5
"""Cost of four evaluations (train, test, twice for batch norm), in passes with gradients, at most."""

_Judged = tuple[AccuracyOutcome | None, tuple[Finding, ...], tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class TrainedChecks(Record):
    """Result: the accuracies after training; None for regression, or if training was too short or diverged."""

    outcome: AccuracyOutcome | None = None


class OutcomeStep(AbstractStep):
    """Examination step that checks the trained network for overfitting, underfitting, dead units and explosions."""

    key, title, share = "outcome", "Result of training", 0.04
    question = "Did training reach what is possible on this data, and does the result hold on test examples?"
    needs = (TrainingRun, NetworkProfile)
    uses = (DataChecks,)
    gives = TrainedChecks
    states = ("fits", "poor")
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return fit

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        run, few = products[TrainingRun], len(subject.train) < MIN_EXAMPLES
        if run.diverges:
            found = _explosion(subject, run, context)
            answer = found[0].message if found else "The loss grew, but no single layer explodes in the first steps."
            return StepResult(
                PageContent(answer, found, stated=found), TrainedChecks(), "answered" if found else "unsure"
            )
        short, each = run.shortage, max(products[NetworkProfile].cost.each, 1e-9)
        n = largest_size_up_to(LADDER, (context.seconds / each - ACTIVITY_EXAMPLES) / EVALUATION_PASSES)
        if not short and (ACTIVITY_EXAMPLES + EVALUATION_PASSES * n) * each > 2 * context.seconds:
            raise out_of_time_error(
                f"Passes over {n} examples", (ACTIVITY_EXAMPLES + EVALUATION_PASSES * n) * each, context
            )
        findings: tuple[Finding, ...] = ()
        fits = False
        outcome: AccuracyOutcome | None = None
        values: tuple[Value, ...] = ()
        if not short and not few:
            if subject.task.classes:
                outcome, judged, values = _classes(subject, run, products.get(DataChecks), n, context.seed)
            else:
                judged, values = _numbers(subject, run, n, context.seed)
            units = trained_unit_findings(run.model, subject.probe.some(ACTIVITY_EXAMPLES).x)
            fits = not any(finding.row in DID_NOT_FIT for finding in judged)
            if not fits:  # If the whole is not learned, poorly learned parts are not a separate problem.
                judged = tuple(finding for finding in judged if finding.row is not data_kinds.WEAK_SEGMENT)
            design = design_findings(subject, run, fits=fits, poor=is_poor_score(values))
            if not fits:
                design += (*first_loss_findings(subject), *batch_findings(subject, run.optimizer))
            late = trained_statistics_findings(subject, run.model, min(n, MAX_STATISTICS_EXAMPLES))
            findings = (*design, *units, *late, *judged)
        decided = decisions_at_positions(subject, run.model, n, context.seed)
        if decided is not None and not short:
            values = decided.with_intervals(values, "train" if subject.test is None else "test")
            findings += decided.rare_class_findings(subject)
        findings = most_serious_first(findings)
        good = f"Training was too short to judge: {short}." if short else _good(values, _unit(subject))
        good = f"{len(subject.train)} training examples are too few to judge training." if few and not short else good
        classes = subject.task.classes > 0 or subject.task.reading is not None
        plots = _scores(values, classes=classes)
        tables: tuple[PageTable, ...] = ()
        if decided is not None:
            which = "training" if subject.test is None else "test"
            plots, tables = (*plots, *decided.plots(subject, which)), decided.tables(subject)
        answer = findings[0].message if findings else good
        content = PageContent(
            answer, findings, values, plots, stated=findings[:1], tables=tables,
            good_news=not _simple_model_leads(values),
        )  # fmt: skip
        facts = {"fits": fits, "poor": not short and not few and has_poor_scores(subject, run, values, context.seed)}
        return StepResult(content, TrainedChecks(outcome), "unsure" if short or few else "answered", facts)


def _good(values: tuple[Value, ...], unit: str) -> str:
    """Returns the report's sentence for a trained network without problems, with the scores."""
    told = {v.id: float(v.value) for v in values if isinstance(v.value, int | float)}
    train, test = (told.get(f"accuracy-on-{data}", told.get(f"explained-on-{data}")) for data in ("train", "test"))
    if train is None:
        return NOT_COMPARED
    verb, of = ("is right on", unit) if "accuracy-on-train" in told else ("explains", "variance")
    sets = f"{train:.1%} of the training {of}" + ("" if test is None else f" and {test:.1%} of the test {of}")
    simple = told.get("simple-accuracy", told.get("simple-explained", 0.0))
    if _simple_model_leads(values):
        return (
            f"The network {verb} {sets}; a simple model (kernel regression) reaches {simple:.1%}, so more is possible."
        )
    perplexity = told.get("perplexity-on-test", told.get("perplexity-on-train"))
    if perplexity is not None:
        bits = told.get("bits-on-test", told.get("bits-on-train", 0.0))
        return f"The network {verb} {sets}; perplexity {perplexity:.3g}, {bits:.3g} bits per token."
    return f"The network {verb} {sets}: no sign of overfitting or underfitting."


def _simple_model_leads(values: tuple[Value, ...]) -> bool:
    """Checks whether a simple model scores clearly higher than the network."""
    known = {v.id: float(v.value) for v in values if isinstance(v.value, int | float)}
    train, test = (known.get(f"accuracy-on-{data}", known.get(f"explained-on-{data}")) for data in ("train", "test"))
    own = train if test is None else test
    return (
        own is not None and known.get("simple-accuracy", known.get("simple-explained", 0.0)) > own + MIN_REPORTED_LEAD
    )


def _unit(subject: Subject) -> str:
    """Returns the word for what the accuracy counts: "examples", "tokens" or "pixels"."""
    return "examples" if subject.task.reading is None else f"{subject.task.reading.unit}s"


def _scores(values: tuple[Value, ...], *, classes: bool) -> tuple[Plot, ...]:
    """Plots the network's scores on train and test next to guessing and a simple model."""
    told = {v.id: max(float(v.value), 0.0) for v in values if isinstance(v.value, int | float)}
    names = {
        "accuracy-on-train": "training examples", "accuracy-on-test": "test examples",
        "simple-accuracy": "a simple model", "guess-accuracy": "guessing",
        "explained-on-train": "training examples", "explained-on-test": "test examples",
        "simple-explained": "a simple model",
    }  # fmt: skip
    words = (
        "Scores of the trained network on training and test examples, compared with guessing and a simple model "
        "on held-out examples."
    )
    axis = "share right" if classes else "share of the variance explained"
    return score_bars({names[id]: told[id] for id in names if id in told}, words, axis=axis)


def _classes(subject: Subject, run: TrainingRun, checks: DataChecks | None, n: int, seed: int) -> _Judged:
    """Judges a trained classifier; for an overfitted one, also estimates how much more data would help."""
    if checks is None or checks.guess is None:
        return None, (), ()
    model = run.model
    right, _ = _right(subject, model, subject.train, n, seed)
    train, tried = float(right.mean()), len(right)
    test, m, alike = None, 0, None
    weak: tuple[Finding, ...] = ()
    if subject.test is not None:
        right, y = _right(subject, model, subject.test, n, seed)
        weak = rare_class_findings(y, torch.where(right > 0, y, -1), unit="test examples")
        weak += weak_segment_findings(subject.test.probe(n, seed=seed).x, 1 - right, names=subject.columns)
        test, m, alike = float(right.mean()), len(right), _alike(right, y, subject.train.labels())
    advice = advice_for_underfit(model, run, examples=len(subject.train))
    outcome = AccuracyOutcome(train, test, tried, m, checks.guess, checks.simple or 0.0, alike=alike, advice=advice)
    found = outcome_findings(outcome)
    if any(finding.row in (training.OVERFIT, training.STRONG_OVERFIT) for finding in found):
        simple = _simple(subject, seed)
        tells = simple.score - outcome.guess >= MIN_BASELINE_SHARE * ((test or 0.0) - outcome.guess)
        outcome = replace(outcome, gain=simple.gain, fitted=simple.examples if tells else 0)
        found = outcome_findings(outcome)
    values = [
        Value("accuracy on train", outcome.train, meaning=f"{outcome.examples} examples", id="accuracy-on-train"),
        Value("accuracy of kernel regression", outcome.simple, id="simple-accuracy"),
        Value("accuracy of always guessing the largest class", outcome.guess, id="guess-accuracy"),
    ]
    if test is not None:
        values.append(Value("accuracy on test", test, meaning=f"{m} examples", id="accuracy-on-test"))
    return outcome, (*found, *weak), tuple(values)


def _numbers(
    subject: Subject, run: TrainingRun, n: int, seed: int
) -> tuple[tuple[Finding, ...], tuple[Value, ...]]:  # fmt: skip
    """Judges a trained regression network by the variance that it explains."""
    model = run.model
    if subject.task.reading is not None:
        return (), _reading_scores(subject, model, subject.task.reading, n, seed)
    predict = torch.clone if subject.asks_for_targets else _predictions(subject, model)
    if predict is None:
        return (), ()
    errors = [
        _errors(subject, model, predict, data, n, seed) for data in (subject.train, subject.test) if data is not None
    ]
    simple = _simple(subject, seed)
    test = errors[1] if len(errors) > 1 else None
    tells = test is None or simple.score >= MIN_BASELINE_SHARE * (1 - float(test.mean()))
    fix = advice_for_overfitting(simple.gain, simple.examples if tells else 0, "explained variance")
    advice = advice_for_underfit(model, run, examples=len(subject.train))
    found = regression_outcome_findings(errors[0], test, simple=simple.score, fix=fix, advice=advice)
    if test is not None and subject.test is not None:
        x = subject.test.probe(n, seed=seed)
        found += weak_segment_findings(x.x, test, names=subject.columns)
        found += repeated_value_findings(x.x, subject.examples(x).y, test)
    values = [
        Value(
            "variance explained on train",
            1 - float(errors[0].mean()),
            meaning=f"{len(errors[0])} examples",
            id="explained-on-train",
        ),
        Value(
            "variance explained by ridge regression on random features",
            simple.score,
            meaning="held-out examples",
            id="simple-explained",
        ),
    ]
    if test is not None:
        values.append(
            Value(
                "variance explained on test",
                1 - float(test.mean()),
                meaning=f"{len(test)} examples",
                id="explained-on-test",
            )
        )
    return found, tuple(values)


def _reading_scores(subject: Subject, model: nn.Module, reading: OutputMeaning, n: int, seed: int) -> tuple[Value, ...]:
    """Returns accuracy on train and test, and for language models perplexity and bits per token, for the report."""
    values: list[Value] = []
    for name, data in (("train", subject.train), ("test", subject.test)):
        if data is None:
            continue
        some = subject.examples(data.probe(n, seed=seed))
        found = score_decisions(model, some.x, some.y, reading)
        values += () if found is None else found.values(name)
    return tuple(values)


def _simple(subject: Subject, seed: int) -> SimpleModelBaseline:
    some = subject.examples(subject.train.probe(MAX_BASELINE_EXAMPLES, seed=seed))
    return simple_model_baseline((some.x, some.y), seed=seed)


def _predictions(subject: Subject, model: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """Returns the function that turns outputs into the probabilities that a binary loss uses; None if unknown."""
    loss, some = subject.recipe.own_loss, subject.probe.some(ACTIVITY_EXAMPLES)
    if subject.task.reading is not None and subject.task.reading.task == "model loss":
        return None  # The model computes its own loss from targets that only it knows, so there is nothing to judge.
    y = subject.loss_targets(some.y)
    if loss is None or isinstance(loss, AbstractLoss) or (f := subject.outputs(some.x, model)).numel() != y.numel():
        return None
    return predictions_of_loss(lambda outputs, targets: call_user_loss(loss, outputs, targets), f.reshape(y.shape), y)


def _errors(
    subject: Subject, model: nn.Module, predict: Callable[[Tensor], Tensor], data: AbstractSource, n: int, seed: int
) -> Tensor:
    """Returns squared errors divided by the variance of the targets; their mean is the unexplained fraction."""
    some = subject.examples(data.probe(n, seed=seed))
    spread = float(some.y.double().var(0, correction=0).sum())
    return (predict(subject.outputs(some.x, model)).double() - some.y.double()).square().sum(1) / max(spread, 1e-300)


def _right(subject: Subject, model: nn.Module, data: AbstractSource, n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Returns 1 for each correctly classified example and 0 for each wrong one, and the labels."""
    some: Examples = subject.examples(data.probe(n, seed=seed))
    return (predicted_classes(subject.outputs(some.x, model)) == some.y).double(), some.y


def _alike(right: Tensor, y: Tensor, train: Tensor | None) -> float | None:
    """Returns the test accuracy that would result if the test classes were as frequent as in the training set."""
    if train is None:
        return None
    kinds = y.unique()
    weights = torch.stack([(train.long() == c).double().mean() for c in kinds.to(train.device)]).cpu()
    shares = torch.stack([right[y == c].mean() for c in kinds]).cpu()
    return float((weights * shares).sum() / weights.sum()) if float(weights.sum()) > 0 else None


def _explosion(subject: Subject, run: TrainingRun, context: StepContext) -> tuple[Finding, ...]:
    some = subject.probe
    return find_explosion(
        subject.module, (some.x, some.y), loss=subject.loss_of, optimizer=run.optimizer, seed=context.seed,
        late=lambda: context.seconds < 0,
    ).findings  # fmt: skip
