"""Graphs: whether the features of nodes can still be told apart after the layers."""

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

MAX_GRAPHS = 8
"""Graphs used, at most."""
MIN_LAYERS_AFTER_COLLAPSE = 2
"""Layers after the one at which nodes become indistinguishable that make a finding; in a dense graph one layer mixes
all nodes."""


class GraphsStep(AbstractStep):
    """The distance of features from those that are alike, by layer; a threshold on what is measured without chance."""

    key, title, share = "graphs", "On the graph", 0.02
    question = "Can nodes still be told apart after the layers?"
    needs = (Profile,)
    uses = (Run,)
    gives = Oversmoothing
    rests_on = ("examples", "training")

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
        content = Content(measured.verdict, _deep(measured), plots=measured.plots())
        return StepResult(content, measured)


def _deep(measured: Oversmoothing) -> tuple[Finding, ...]:
    """Findings where further layers follow on nodes that are alike already."""
    behind = [len(measured.layers) - 1 - measured.layers.index(f.where) for f in measured.findings]
    return tuple(f for f, later in zip(measured.findings, behind, strict=True) if later >= MIN_LAYERS_AFTER_COLLAPSE)


def _graphs(subject: Subject) -> tuple[Any, Any] | None:
    """Features (n, nodes, channels) and matrices (n, nodes, nodes) of some examples, where the inputs are both."""
    x = subject.probe.some(MAX_GRAPHS).x
    parts = list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, tuple) else []
    if len(parts) != 2 or not all(isinstance(p, Tensor) and p.dim() == 3 for p in parts):
        return None
    nodes, matrix = parts
    if matrix.shape[1] != matrix.shape[2] or nodes.shape[1] != matrix.shape[1] or not matrix.is_floating_point():
        return None
    return nodes, matrix
