"""The decisions of the network: margins, calibration, and the examples that are hardest."""

from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.metrics import explained_variance
from gnomon.core.record import Record
from gnomon.core.results import Axis, Definition, Histogram, Plot, Value
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.subject import Subject
from gnomon.geometry.calibration import Calibration, calibration
from gnomon.geometry.margins import HARDEST, Margins, margins, probabilities
from gnomon.report import Content
from gnomon.training import Run


@dataclass(frozen=True, slots=True, eq=False)
class Decisions(Record):
    """Margins and calibration of a classifier; the share of the variance that a regression explains."""

    margins: Margins | None = None
    calibration: Calibration | None = None
    explained: float | None = None


class MarginsStep(AbstractStep):
    """Margin distribution, expected calibration error, hardest examples; for regression the largest residuals."""

    key, title, share = "margins", "How sure it is", 0.05
    question = "Can the confidence of the network be taken at its word?"
    uses = (Run,)
    gives = Decisions

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        run = products.get(Run)
        model = subject.module if run is None else run.model
        source, which = (subject.train, "training") if subject.test is None else (subject.test, "test")
        parts = [subject.examples(batch) for batch in source.batches()]
        f = torch.cat([subject.outputs(part.x, model) for part in parts]).double()
        y = torch.cat([part.y for part in parts])
        if not bool(torch.isfinite(f).all()):
            raise Skipped("Some outputs are not finite.")
        if not subject.task.classes:
            return _regression(f, y, which, trained=run is not None)
        return _classification(probabilities(f), y, which, trained=run is not None)


def _classification(p: Tensor, y: Tensor, which: str, *, trained: bool) -> StepResult:
    margin, judged = margins(p, y), calibration(p, y)
    state = "trained" if trained else "untrained"
    values = (
        Value("accuracy", margin.accuracy, margin.accuracy_interval, meaning=f"{which} examples, network {state}"),
        Value("smallest margin", margin.smallest, meaning="probability of the right class minus the best other"),
        Value("median margin", margin.median),
        Value("expected calibration error", judged.error, meaning=f"{len(judged.bins)} bins of equal size"),
        Value("mean confidence", judged.confidence),
        Value("hardest examples", ", ".join(map(str, margin.hardest)), meaning="their numbers, hardest first"),
    )
    answer = f"The {state} network is right on {margin.accuracy:.1%} of {which} examples. {judged.verdict}"
    definition = Definition("Σ_b |B_b|/n · |acc(B_b) − conf(B_b)|", "expected calibration error", "guo2017calibration")
    findings = judged.findings if trained else ()  # how sure an untrained network is says nothing
    plots = margin.plots() + judged.plots()
    content = Content(answer, findings, values, plots, (definition,), data={"hardest": margin.hardest})
    return StepResult(content, Decisions(margin, judged))


def _regression(f: Tensor, y: Tensor, which: str, *, trained: bool) -> StepResult:
    y = y.double()
    residual, explained = (f - y).square().mean(1).sqrt(), explained_variance(f, y)
    hardest = residual.topk(min(HARDEST, len(f))).indices.tolist()
    state = "trained" if trained else "untrained"
    error = float(residual.square().mean().sqrt())
    values = (
        Value("root mean square error", error, meaning=f"{which} examples, network {state}"),
        Value("explained variance", explained),
        Value("hardest examples", ", ".join(map(str, hardest)), meaning="their numbers, hardest first"),
    )
    answer = f"The {state} network explains {explained:.1%} of the variance of the {which} targets."
    errors = Histogram.of("examples", residual)
    plot = Plot("Errors", (errors,), Axis("absolute error"), Axis("examples"), "Errors of single examples.")
    content = Content(answer, (), values, (plot,), data={"hardest": hardest})
    return StepResult(content, Decisions(explained=explained))
