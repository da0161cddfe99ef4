"""Finds models that run in the wrong mode (train or eval), and validation that computes gradients.

>>> from gnomon.checks.run.loop.facts import ModelFacts
>>> model = ModelFacts("Net", "Dropout", trained=90, validated=20, in_training=20)
>>> [finding.kind for finding in train_eval_mode_findings(LoopFacts(steps=90, models=(model,)))]
['eval-missing']
"""

from gnomon.checks.run.loop.facts import LoaderFacts, LoopFacts, ModelFacts
from gnomon.core.results import Finding
from gnomon.findings import loop as kinds

__all__ = ["train_eval_mode_findings"]

MIN_STEPS = 3
"""Steps in the wrong mode that count as a mistake."""
MIN_SINGLE = 10
"""Training passes for a judgment about batches of one example."""
MIN_SHARE_SINGLE = 0.9
"""Share of training passes with one example that counts as a mistake; the last batch of an epoch may be small."""
MIN_BATCHES_WITH_GRAPH = 3
"""Validation batches with a graph that are reported."""


def train_eval_mode_findings(facts: LoopFacts) -> list[Finding]:
    """Reports missing or misplaced calls of model.train(), model.eval() and torch.no_grad() in a training loop.

    >>> train_eval_mode_findings(LoopFacts())
    []
    """
    found = [finding for model in facts.models for finding in _model(model, facts)]
    sensitive = [model for model in facts.models if model.layers and model.trained]
    unused = [one for one in facts.loaders if _validates_in_training(one)]
    if unused and sensitive and not any(finding.kind == "eval-missing" for finding in found):
        count = sum(one.forwards for one in unused)
        values = {"count": count, "total": count, "model": sensitive[0].name, "layers": sensitive[0].layers, "step": 0}
        found.append(Finding(kinds.EVAL_MISSING, values=values))
    return [*found, *_steps_in_validation(facts)]


def _steps_in_validation(facts: LoopFacts) -> list[Finding]:
    """Reports optimizer steps on the batches of a loader that the model only sees in eval mode."""
    trains = any(one.steps_train >= MIN_STEPS and not one.steps_eval for one in facts.loaders)
    validating = [one for one in facts.loaders if one.returns and not one.steps_train]
    steps = sum(one.steps_eval for one in validating if one.steps_eval >= MIN_STEPS)
    return [Finding(kinds.STEP_IN_VALIDATION, values={"count": steps})] if trains and steps else []


def _validates_in_training(one: LoaderFacts) -> bool:
    """Checks whether a loader's batches were used for validation only, but with the model in training mode."""
    return not one.backwards and one.forwards >= MIN_STEPS


def _model(model: ModelFacts, facts: LoopFacts) -> list[Finding]:
    found = []
    total = model.trained + model.trained_in_eval
    if model.trained and model.dropped_in_eval >= MIN_STEPS:
        found.append(Finding(kinds.DROPOUT_IN_EVAL, values={"model": model.name, "count": model.dropped_in_eval}))
    if "BatchNorm" in model.layers and model.single_examples >= MIN_SHARE_SINGLE * max(MIN_SINGLE, total):
        values = {"model": model.name, "count": model.single_examples}
        found.append(Finding(kinds.BATCH_NORM_OF_ONE, values=values))
    values = {"model": model.name, "layers": model.layers}
    if model.layers and total and model.in_training >= MIN_STEPS:
        numbers = {"count": model.in_training, "total": model.validated, "step": model.first_in_training}
        found.append(Finding(kinds.EVAL_MISSING, values=values | numbers))
    if model.layers and model.trained_in_eval >= MIN_STEPS:
        numbers = {"count": model.trained_in_eval, "total": total, "step": model.first_in_eval}
        row = kinds.TRAIN_MISSING if model.trained else kinds.TRAIN_NEVER
        found.append(Finding(row, values=values | numbers))
    if total and not model.trained_in_eval and model.with_graph >= MIN_BATCHES_WITH_GRAPH:
        found.append(Finding(kinds.VALIDATION_WITH_GRADIENTS, values={"count": model.with_graph}))
    return found
