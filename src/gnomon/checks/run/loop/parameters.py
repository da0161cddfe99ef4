"""Finds parameters that are not trained: they are in no optimizer, or never have a gradient.

>>> from gnomon.checks.run.loop.facts import ModelFacts, OptimizerFacts
>>> model = ModelFacts("Net", trained=9, missing=(("fc.weight", 100),))
>>> facts = LoopFacts(steps=9, backwards=9, optimizers=(OptimizerFacts("SGD", 9),), models=(model,))
>>> [finding.kind for finding in parameter_findings_of_loop(facts)]
['not-in-optimizer']
"""

from collections.abc import Sequence

from gnomon.checks.run.loop.facts import LoopFacts, OptimizerFacts, ParameterFacts
from gnomon.core.results import Finding, FindingKind
from gnomon.findings import loop as kinds

__all__ = ["parameter_findings_of_loop"]

MIN_SAMPLES = 3
"""Sampled steps for a judgment about gradients."""
MAX_UNUSED_SHARE = 0.02
"""Share of parameters without gradients that is only a note: unused heads and buffers of libraries."""
MIN_ZERO_SHARE = 0.05
"""Share of parameters with zero gradients that is reported."""
MIN_SHRINKAGE = 0.05
"""Part of the weights that weight decay removes in each step, far above the 0.005 of strong regularization."""
MAX_STEPS_OF_REBUILT = 2
"""Steps per optimizer up to which rebuilding is a mistake and not a new phase of training."""
MIN_REBUILT = 3
"""Optimizers for the same parameters that count as a mistake."""
MIN_SHORT_LIVED = 5
"""Layers of one class and size that existed in one forward pass only."""
MIN_STEPS_TO_MOVE = 30
"""Steps after which weights should have moved."""
MIN_MOVEMENT = 1e-4
"""Distance of the weights from their start, relative to their size; Adam with 1e-6 moves them by 1e-3 in 30 steps."""
MIN_SIZE_OF_COPY = 100
"""Parameters from which two models of one size are copies, even if one of them is wrapped in another class."""
MAX_NAMES = 3
"""Names in a message."""


def parameter_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports parameters that are in no optimizer, or never get a gradient during a training loop.

    >>> parameter_findings_of_loop(LoopFacts())
    []
    """
    if not facts.steps:
        return _by_hand(facts)
    found = [finding for one in facts.optimizers for finding in _without_gradient(one)]
    for model in facts.models:
        if not model.missing or not model.trained + model.trained_in_eval:
            continue
        size, names = sum(n for _, n in model.missing), _names([name for name, _ in model.missing])
        holder = next((one for one in facts.optimizers if one.steps and _orphans(one)), None)
        if holder is not None:
            held = sum(p.size for p in _orphans(holder))
            values = {"optimizer": holder.name, "held": held, "missing": size, "names": names}
            found.append(Finding(kinds.OTHER_MODEL, values=values))
        else:
            row = kinds.MISSING_PRETRAINED if model.loaded else kinds.MISSING_PARAMETERS
            found.append(Finding(row, values={"size": size, "names": names}))
    for one in facts.optimizers:
        if one.steps >= MIN_SAMPLES and one.shrinkage >= MIN_SHRINKAGE:
            values = {"optimizer": one.name, "share": min(1.0, one.shrinkage)}
            found.append(Finding(kinds.WEIGHT_DECAY_LARGE, values=values))
    if facts.restored_from_itself:
        found.append(Finding(kinds.STATE_IS_REFERENCE))
    for model in facts.models:
        if model.random_frozen and model.trained >= MIN_SAMPLES:
            size, names = sum(n for _, n in model.random_frozen), _names([name for name, _ in model.random_frozen])
            found.append(Finding(kinds.RANDOM_LAYER_FROZEN, values={"size": size, "names": names}))
    found += [*_short_lived(facts), *_by_hand(facts), *_hardly_moved(facts)]
    if facts.unmatched is not None:
        given, wanted, count = facts.unmatched
        values = {"count": count, "given": given, "wanted": wanted}
        found.append(Finding(kinds.STATE_NOT_LOADED, values=values))
    return [*found, *_validated_copy(facts), *_rebuilt(facts), *_models_rebuilt(facts)]


def _short_lived(facts: LoopFacts) -> list[Finding]:
    """Reports layers that forward creates anew, with random weights, in each call."""
    if facts.short_lived is None or facts.short_lived[2] < max(MIN_SHORT_LIVED, facts.steps / 2):
        return []
    layer, size, count = facts.short_lived
    return [Finding(kinds.LAYER_OF_ONE_CALL, values={"layer": layer, "size": size, "count": count})]


def _by_hand(facts: LoopFacts) -> list[Finding]:
    """Reports gradients that are not cleared although the script, without an optimizer, changes the weights."""
    for one in facts.models:
        if one.hand_judged >= MIN_SAMPLES and one.hand_stale > one.hand_judged / 2:
            values = {"model": one.name, "stale": one.hand_stale, "steps": one.hand_judged}
            return [Finding(kinds.NOT_CLEARED_BY_HAND, values=values)]
    return []


def _hardly_moved(facts: LoopFacts) -> list[Finding]:
    """Reports optimizers whose weights hardly change over many steps."""
    found = []
    for one in facts.optimizers:
        if one.steps >= MIN_STEPS_TO_MOVE and one.movement is not None and 0 < one.movement < MIN_MOVEMENT:
            values = {"optimizer": one.name, "steps": one.steps, "movement": one.movement, "lr": one.rate}
            found.append(Finding(kinds.HARDLY_MOVED, values=values))
    return found


def _validated_copy(facts: LoopFacts) -> list[Finding]:
    """Reports a model that is validated in place of the trained one."""
    for model in facts.models:
        if model.trained < MIN_SAMPLES or model.validated:
            continue
        for other in facts.models:
            equal = other.size == model.size and (other.name == model.name or other.size >= MIN_SIZE_OF_COPY)
            if equal and not other.trained and other.validated >= MIN_SAMPLES and other.unchanged:
                values = {"model": model.name, "other": other.name, "count": other.validated}
                return [Finding(kinds.VALIDATED_COPY, values=values)]
    return []


def _rebuilt(facts: LoopFacts) -> list[Finding]:
    for one in facts.optimizers:
        each = one.steps / one.rebuilt if one.rebuilt else 0.0
        if one.rebuilt >= MIN_REBUILT and 0 < each <= MAX_STEPS_OF_REBUILT and not _is_plain(one):
            values = {"count": one.rebuilt, "optimizer": one.name, "each": f"{each:.2g}"}
            return [Finding(kinds.OPTIMIZER_REBUILT, values=values)]
        alike = one.rebuilt_alike + 1 == one.rebuilt >= MIN_REBUILT
        if alike and each > MAX_STEPS_OF_REBUILT and _once_per_pass(one.rebuilt, facts) and not _is_plain(one):
            values = {"count": one.rebuilt, "optimizer": one.name, "each": f"{each:.2g}"}
            return [Finding(kinds.OPTIMIZER_REBUILT_IN_EPOCH, values=values)]
    return []


def _models_rebuilt(facts: LoopFacts) -> list[Finding]:
    """Reports models that are built again before each pass over one data set, so that none is trained for long."""
    trained = [(model.name, model.size) for model in facts.models if model.trained >= MIN_SAMPLES]
    for name, size in dict.fromkeys(trained):
        count = trained.count((name, size))
        if count >= MIN_REBUILT and _once_per_pass(count, facts):
            return [Finding(kinds.MODEL_REBUILT, values={"count": count, "model": name})]
    return []


def _once_per_pass(count: int, facts: LoopFacts) -> bool:
    """Checks whether something was built as often as the script went through its only training data, as a whole.

    In cross-validation and federated learning each model has a loader, or a part of the data, of its own.
    """
    training = [one for one in facts.loaders if one.backwards]
    return len(training) == 1 and training[0].data is not None and training[0].passes == count


def _is_plain(one: OptimizerFacts) -> bool:
    """Checks whether the optimizer is SGD, which has no moment estimates that creating it again would lose."""
    return one.name == "SGD"


def _orphans(one: OptimizerFacts) -> list[ParameterFacts]:
    """Returns the parameters of an optimizer that never had a gradient."""
    return [p for p in one.parameters if p.samples >= MIN_SAMPLES and p.missing == p.samples]


def _without_gradient(one: OptimizerFacts) -> list[Finding]:
    total = sum(p.size for p in one.parameters)
    missing = _orphans(one)
    zero = [p for p in one.parameters if p.samples >= MIN_SAMPLES and p.zero == p.samples > p.missing]
    found, size = [], sum(p.size for p in missing)
    if missing and len(missing) < len(one.parameters):
        row = kinds.NO_GRADIENT if size > MAX_UNUSED_SHARE * total else kinds.UNUSED_PART
        found.append(_about(row, missing, size, total))
    size = sum(p.size for p in zero)
    if size > MIN_ZERO_SHARE * total and len(zero) < len(one.parameters):
        found.append(_about(kinds.ZERO_GRADIENT, zero, size, total))
    return found


def _about(row: FindingKind, parameters: Sequence[ParameterFacts], size: int, total: int) -> Finding:
    names = _names([p.name for p in parameters])
    samples = min(p.samples for p in parameters)
    return Finding(row, values={"size": size, "total": total, "samples": samples, "names": names})


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
