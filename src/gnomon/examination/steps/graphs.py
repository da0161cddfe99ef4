"""Examination step that checks whether the layers of a graph network keep nodes distinguishable."""

from typing import Any

from torch import Tensor

from gnomon.core.errors import GnomonError
from gnomon.core.results import Finding
from gnomon.examination.step import AbstractStep, StepContext, StepProducts, StepResult, StepSkipped
from gnomon.examination.steps.architecture import NetworkProfile
from gnomon.examination.subject import Subject
from gnomon.graphs import oversmoothing
from gnomon.graphs.smoothing import Oversmoothing
from gnomon.report import PageContent
from gnomon.training import TrainingRun

MAX_GRAPHS = 8
"""Graphs used, at most."""
MIN_LAYERS_AFTER_COLLAPSE = 2
"""Minimum number of layers after node features become indistinguishable; in a dense graph one layer mixes all nodes."""


class GraphsStep(AbstractStep):
    """Examination step that measures, layer by layer, how much features differ between nodes of a graph
    (oversmoothing).
    """

    key, title, share = "graphs", "On the graph", 0.02
    question = "Can the last layer still distinguish the nodes of a graph?"
    needs = (NetworkProfile,)
    uses = (TrainingRun,)
    gives = Oversmoothing
    rests_on = ("examples", "training")

    def possible(self, subject: Subject, products: StepProducts, *, fit: bool) -> bool:  # noqa: D102
        return _graphs(subject) is not None

    def run(self, subject: Subject, products: StepProducts, context: StepContext) -> StepResult:  # noqa: D102
        found = _graphs(subject)
        if found is None:
            raise StepSkipped("Skipped: the inputs are not node features with an adjacency matrix for each example.")
        run = products.get(TrainingRun)
        try:
            measured = oversmoothing(subject.module if run is None else run.model, *found)
        except GnomonError as reason:
            raise StepSkipped(f"Skipped: gnomon cannot follow the node features. {reason}") from reason
        content = PageContent(measured.verdict, _deep(measured), plots=measured.plots())
        return StepResult(content, measured)


def _deep(measured: Oversmoothing) -> tuple[Finding, ...]:
    """Reports layers at which the features of all nodes are nearly equal although more layers follow."""
    behind = [len(measured.layers) - 1 - measured.layers.index(f.where) for f in measured.findings]
    return tuple(f for f, later in zip(measured.findings, behind, strict=True) if later >= MIN_LAYERS_AFTER_COLLAPSE)


def _graphs(subject: Subject) -> tuple[Any, Any] | None:
    """Returns node features and adjacency matrices of some graphs; None if the inputs are not graphs."""
    x = subject.probe.some(MAX_GRAPHS).x
    parts = list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, tuple) else []
    if len(parts) != 2 or not all(isinstance(p, Tensor) and p.dim() == 3 for p in parts):
        return None
    nodes, matrix = parts
    if matrix.shape[1] != matrix.shape[2] or nodes.shape[1] != matrix.shape[1] or not matrix.is_floating_point():
        return None
    return nodes, matrix
