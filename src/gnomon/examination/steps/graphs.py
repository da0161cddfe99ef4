"""Graphs: whether the features of nodes can still be told apart after the layers."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.core.results import Finding
from gnomon.examination.step import AbstractStep, Context, Products, Skipped, StepResult
from gnomon.examination.steps.architecture import Profile
from gnomon.examination.subject import Subject
from gnomon.graphs import oversmoothing
from gnomon.graphs.smoothing import Oversmoothing
from gnomon.report import Content
from gnomon.training import Run

GRAPHS = 8
WASTED = 2
"""Layers behind the one after which nodes are alike: fewer, and a graph may be so dense that one layer joins it all."""
LEARNED, HARMLESS = 0.5, 0.4
"""Share of its first loss below which a network learned all the same, and the severity then, a warning: one answer for
a whole graph may need no differences between its nodes."""


class GraphsStep(AbstractStep):
    """The distance of features from those that are alike, by layer; a threshold on what is measured without chance."""

    key, title, share = "graphs", "On the graph", 0.02
    question = "Can nodes still be told apart after the layers?"
    needs = (Profile,)
    uses = (Run,)
    gives = Oversmoothing

    def possible(self, subject: Subject, products: Products, *, fit: bool) -> bool:  # noqa: D102
        return _graphs(subject) is not None

    def run(self, subject: Subject, products: Products, context: Context) -> StepResult:  # noqa: D102
        found = _graphs(subject)
        if found is None:
            raise Skipped("The inputs are not features of nodes with an adjacency matrix for each example.")
        run = products.get(Run)
        try:
            measured = oversmoothing(subject.module if run is None else run.model, *found)
        except GnomonError as reason:
            raise Skipped(f"Features of nodes cannot be followed: {reason}") from reason
        content = Content(measured.verdict, _deep(measured, learned=_learned(run)), plots=measured.plots())
        return StepResult(content, measured)


def _deep(measured: Oversmoothing, *, learned: bool) -> tuple[Finding, ...]:
    """Findings where further layers follow on nodes that are alike already; a warning where that did no harm."""
    behind = [len(measured.layers) - 1 - measured.layers.index(f.where) for f in measured.findings]
    found = [f for f, later in zip(measured.findings, behind, strict=True) if later >= WASTED]
    return tuple(replace(f, severity=min(f.severity, HARMLESS)) if learned else f for f in found)


def _learned(run: Run | None) -> bool:
    """Whether a whole run brought the loss, on test examples if there are any, below `LEARNED` of what it was."""
    if run is None or run.diverges or run.shortage:
        return False
    losses = run.loss if run.test_loss is None else run.test_loss
    return float(losses[-1]) < LEARNED * float(losses[0])


def _graphs(subject: Subject) -> tuple[Any, Any] | None:
    """Features (n, nodes, channels) and matrices (n, nodes, nodes) of some examples, where the inputs are both."""
    x = subject.probe.some(GRAPHS).x
    parts = list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, tuple) else []
    if len(parts) != 2 or not all(isinstance(p, Tensor) and p.dim() == 3 for p in parts):
        return None
    nodes, matrix = parts
    if matrix.shape[1] != matrix.shape[2] or nodes.shape[1] != matrix.shape[1] or not matrix.is_floating_point():
        return None
    return nodes, matrix
