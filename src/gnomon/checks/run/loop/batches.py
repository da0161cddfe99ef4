"""Finds problems of batches in the user's loop: repeated, sorted by label, or not used.

A batch of n mixed examples holds a class c with frequency p_c with probability q_c, and on average E classes:

    q_c = 1 - (1 - p_c)^n,   E = sum_c q_c                                                               (1)
    standard error of the mean over B batches at most (sum_c q_c (1 - q_c) / B)^(1/2)                    (2)

(2) is an upper limit, because a batch that holds one class has less room for others. Sorted data hold far fewer.

>>> from gnomon.checks.run.loop.facts import LoaderFacts
>>> sorted_by_label = LoaderFacts(50, 50, backwards=50, labels=((64, 1),) * 50, classes=10)
>>> [finding.kind for finding in batch_findings_of_loop(LoopFacts(steps=50, backwards=50, loaders=(sorted_by_label,)))]
['sorted-data']
"""

from collections.abc import Sequence
from math import sqrt
from statistics import mean

from gnomon.checks.run.loop.facts import LoaderFacts, LoopFacts
from gnomon.core.results import Finding
from gnomon.findings import loop as kinds

__all__ = ["batch_findings_of_loop"]

MIN_BATCHES = 5
"""Batches for a judgment."""
MIN_EQUAL_SHARE = 0.5
"""Share of equal neighboring batches that counts as a mistake."""
MIN_EQUAL_INPUTS = 0.9
"""Share of steps with the input of the step before that counts as a mistake; several steps on one batch are usual."""
MAX_EXTRA_SHARE = 0.5
"""Share of the expected classes beyond one in a batch below which data are sorted."""
STANDARD_ERRORS = 3.0
"""Fewer classes than expected by this many standard errors are not chance."""
MIN_EXPECTED = 1.5
"""Expected number of classes in a batch below which nothing can be said, as with one very frequent class."""
BATCHES_PER_BACKWARD = 8
"""Batches for each backward pass from which most of them are not used."""
MIN_PASSES = 3
"""Passes over a loader that all end early for a judgment."""
MIN_EXAMPLES = 50
"""Different validation examples for a comparison with training examples."""
MIN_SHARE_TRAINED = 0.9
"""Share of validation examples among the training examples that is a mistake; data sets hold a few copies."""
MIN_CHANGED = 3
"""Changed inputs that are similar to the ones before, for a judgment."""
MIN_SHARE_CHANGED = 0.8
"""Share of similar inputs among all that changed in place; buffers are filled with other data."""
MAX_SHIFT = 1.0
"""Distance of the means of training and validation inputs, in standard deviations, that no random split has."""
MAX_FACTOR = 2.0
"""Ratio of their standard deviations that no random split has."""
MIN_SEEDS = 5
"""Calls of torch.manual_seed while training that count as a mistake."""


def batch_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports batches that are repeated, sorted by label, or not used, from the record of a training loop.

    >>> batch_findings_of_loop(LoopFacts())
    []
    """
    found = []
    if facts.seeds >= max(MIN_SEEDS, 0.5 * facts.steps) and facts.steps:
        values = {"seed": facts.seed, "count": facts.seeds, "steps": facts.steps}
        found.append(Finding(kinds.SEED_RESET, values=values))
    training = [one for one in facts.loaders if one.backwards]
    if any(one.length == 0 for one in facts.loaders):
        found.append(Finding(kinds.NO_BATCHES))
    if training and _validates_on_training_data(facts):
        found.append(Finding(kinds.VALIDATION_ON_TRAINING_DATA))
    found += _find_other_inputs(training, facts)
    for one in training:
        found += [*_find_repeated(one), *_find_sorted(one), *_find_cut_short(one)]
    if facts.changed_inputs >= max(MIN_CHANGED, MIN_SHARE_CHANGED * facts.changes_seen):
        values = {"count": facts.changed_inputs}
        found.append(Finding(kinds.DATA_CHANGED, values=values))
    found += _find_unused(training, facts)
    total, equal = facts.compared_inputs, facts.repeated_inputs
    if total >= MIN_BATCHES and equal > MIN_EQUAL_SHARE * total and not any(f.kind == "same-batch" for f in found):
        found.append(Finding(kinds.SAME_BATCH, values={"count": equal, "total": total}))
    return found


def _validates_on_training_data(facts: LoopFacts) -> bool:
    """Checks whether all loaders without backward passes go through data sets that others train on, or equal ones."""
    trained = {one.data for one in facts.loaders if one.backwards and one.data is not None}
    others = [one for one in facts.loaders if not one.backwards and one.batches]
    validated = sum(model.validated for model in facts.models) >= MIN_BATCHES
    return bool(others) and validated and all(one.data in trained or _has_same_examples(one) for one in others)


def _has_same_examples(one: LoaderFacts) -> bool:
    return one.examples >= MIN_EXAMPLES and one.share_trained >= MIN_SHARE_TRAINED


def _find_repeated(one: LoaderFacts) -> list[Finding]:
    several = one.length is None or one.length > 1
    if several and one.compared >= MIN_BATCHES and one.equal > MIN_EQUAL_SHARE * one.compared:
        return [Finding(kinds.SAME_BATCH, values={"count": one.equal, "total": one.compared})]
    if several and one.inputs_compared >= MIN_BATCHES and one.inputs_equal > MIN_EQUAL_INPUTS * one.inputs_compared:
        return [Finding(kinds.SAME_BATCH, values={"count": one.inputs_equal, "total": one.inputs_compared})]
    return []


def _find_other_inputs(training: Sequence[LoaderFacts], facts: LoopFacts) -> list[Finding]:
    """Reports validation inputs with another mean or scale than the training inputs, as without normalization."""
    others = [one for one in facts.loaders if not one.backwards and one.batches and one.input_deviation > 0]
    if len(training) != 1 or len(others) != 1 or not training[0].input_deviation > 0:
        return []
    one, other = training[0], others[0]
    shift = abs(other.input_mean - one.input_mean) / one.input_deviation
    factor = other.input_deviation / one.input_deviation
    if shift < MAX_SHIFT and 1 / MAX_FACTOR < factor < MAX_FACTOR:
        return []
    values = {"mean": one.input_mean, "deviation": one.input_deviation}
    values |= {"other_mean": other.input_mean, "other_deviation": other.input_deviation}
    return [Finding(kinds.VALIDATION_INPUTS_DIFFER, values=values)]


def _find_cut_short(one: LoaderFacts) -> list[Finding]:
    """Reports a loader in a fixed order of which every pass ends early: the rest of its data is never seen."""
    if one.length is None or not one.in_order or one.passes < MIN_PASSES or not 1 < one.longest < one.length:
        return []
    return [Finding(kinds.EPOCH_CUT_SHORT, values={"count": one.longest, "total": one.length, "passes": one.passes})]


def _find_sorted(one: LoaderFacts) -> list[Finding]:
    if len(one.labels) < MIN_BATCHES or one.classes < 2:
        return []
    counts = one.counts or (1,) * one.classes
    held = [[1 - (1 - count / sum(counts)) ** n for count in counts] for n, _ in one.labels]  # (1)
    expected = mean(sum(batch) for batch in held)
    error = sqrt(mean(sum(q * (1 - q) for q in batch) for batch in held) / len(held))  # (2)
    each = mean(kinds_in_batch for _, kinds_in_batch in one.labels)
    few = each - 1 < MAX_EXTRA_SHARE * (expected - 1) and each < expected - STANDARD_ERRORS * error
    if not few or expected < MIN_EXPECTED:
        return []
    return [Finding(kinds.SORTED_DATA, values={"each": each, "classes": one.classes, "expected": expected})]


def _find_unused(training: Sequence[LoaderFacts], facts: LoopFacts) -> list[Finding]:
    forwards, backwards = sum(one.forwards for one in training), sum(one.backwards for one in training)
    if training and forwards >= BATCHES_PER_BACKWARD * backwards:
        return [Finding(kinds.BATCHES_UNUSED, values={"batches": forwards, "backwards": backwards})]
    steps = max((one.steps for one in facts.optimizers), default=0)
    if steps and backwards >= BATCHES_PER_BACKWARD * steps and steps <= sum(one.passes for one in training):
        name = max(facts.optimizers, key=lambda one: one.steps).name
        values = {"optimizer": name, "backwards": backwards, "steps": steps}
        return [Finding(kinds.STEP_OUTSIDE_LOOP, values=values)]
    return []
