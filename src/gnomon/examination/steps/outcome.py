"""What training came to: against a guess and a simple model, on train and on test, and where it exploded."""

from dataclasses import dataclass

from torch import Tensor, nn

from gnomon.checkup import Outcome, explosion, outcome_findings
from gnomon.core.metrics import accuracy
from gnomon.core.record import Record
from gnomon.core.results import Finding, Value
from gnomon.core.source import AbstractSource
from gnomon.examination.cost import rung
from gnomon.examination.step import AbstractStep, Context, Products, StepResult
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.steps.columns import DataChecks
from gnomon.examination.steps.wiring import loss_of, statistics
from gnomon.examination.subject import Examples, Subject
from gnomon.geometry import signal
from gnomon.report import Content
from gnomon.training import Run

LADDER = (64, 128, 256, 512, 1024)
"""Examples of train and of test that the trained network is judged by, as the time allows."""
DEAD = 64
"""Examples by which units are judged."""


@dataclass(frozen=True, slots=True)
class TrainedChecks(Record):
    """The outcome of training; None for regression, and where training was too short or diverged."""

    outcome: Outcome | None = None


class OutcomeStep(AbstractStep):
    """Overfitting, underfitting, dead units and statistics of the trained network; where a run exploded."""

    key, title, share = "outcome", "What training came to", 0.01
    question = "Did it learn what can be learned, and does that hold for test examples?"
    needs = (Run, Profile)
    uses = (DataChecks,)
    gives = TrainedChecks

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        run = products[Run]
        if run.diverges:
            found = _explosion(subject, run, context.seed)
            answer = found[0].what if found else "The loss grew, and no single layer explodes in the first steps."
            return StepResult(Content(answer, found), TrainedChecks())
        short = run.shortage
        n = rung(LADDER, context.seconds / max(2 * products[Profile].seconds_per_example, 1e-9))
        findings = () if short else (*_units(subject, run.model), *statistics(subject, run.model, min(n, 256)))
        outcome = None if short else _outcome(subject, run.model, products.get(DataChecks), n, context.seed)
        values: tuple[Value, ...] = ()
        if outcome is not None:
            findings = (*findings, *outcome_findings(outcome))
            values = (
                Value("accuracy on train", outcome.train, meaning=f"{outcome.examples} examples"),
                Value("accuracy of ridge regression on random features", outcome.simple),
                Value("accuracy of always guessing the largest class", outcome.guess),
            )
            if outcome.test is not None:
                values = (*values, Value("accuracy on test", outcome.test, meaning=f"{outcome.tested} examples"))
        findings = tuple(sorted(findings, key=lambda finding: -finding.severity))
        good = f"Training was too short to judge: {short}." if short else "Training learned what could be expected."
        content = Content(findings[0].what if findings else good, findings, values)
        return StepResult(content, TrainedChecks(outcome), "unsure" if short else "answered")


def _units(subject: Subject, model: nn.Module) -> tuple[Finding, ...]:
    found = signal(model, subject.probe.some(DEAD).x).findings
    return tuple(finding for finding in found if finding.kind in ("dead-units", "not-finite"))


def _outcome(subject: Subject, model: nn.Module, checks: DataChecks | None, n: int, seed: int) -> Outcome | None:
    if not subject.task.classes or checks is None or checks.guess is None:
        return None
    train, tried = _accuracy(subject, model, subject.train, n, seed)
    test, m = (None, 0) if subject.test is None else _accuracy(subject, model, subject.test, n, seed)
    if train is None:
        return None
    return Outcome(train, test, tried, m, checks.guess, checks.simple or 0.0)


def _accuracy(subject: Subject, model: nn.Module, data: AbstractSource, n: int, seed: int) -> tuple[float | None, int]:
    some: Examples = subject.examples(data.probe(n, seed=seed))
    f = subject.outputs(some.x, model).double()
    if subject.task.outputs == 1:
        return float(((f[:, 0] > 0).long() == some.y).double().mean()), len(some)
    return accuracy(f, some.y), len(some)


def _explosion(subject: Subject, run: Run, seed: int) -> tuple[Finding, ...]:
    def loss(f: Tensor, y: Tensor) -> Tensor:
        return loss_of(subject, f, y)

    some = subject.probe
    return explosion(subject.module, some.x, some.y, loss=loss, optimizer=run.optimizer, seed=seed).findings
