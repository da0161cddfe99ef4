"""Finds mistakes in the order of zero_grad, backward and step in the user's loop.

>>> from gnomon.checks.run.loop.facts import OptimizerFacts
>>> forgotten = OptimizerFacts("SGD", steps=20, judged=19, stale=19, sampled=5)
>>> [finding.kind for finding in gradient_findings_of_loop(LoopFacts(steps=20, backwards=20, optimizers=(forgotten,)))]
['gradients-not-cleared']
"""

from statistics import median
from types import MappingProxyType

from gnomon.checks.run.loop.facts import LoopFacts, OptimizerFacts
from gnomon.checks.run.loop.precision import precision_findings_of_loop
from gnomon.core.results import Finding
from gnomon.findings import loop as kinds

__all__ = ["gradient_findings_of_loop"]

MIN_BACKWARDS = 3
"""Backward passes after which a missing step is not an accident."""
MIN_SHARE = 0.2
"""Share of steps with a wrong order that counts as a mistake; single ones may be intended."""
MIN_DISCARDED = 5
"""Backward passes with discarded gradients that count as a mistake."""
MAX_SHARE_LEFT = 1e-3
"""Share of the gradient norm that clipping leaves; Adam and AdamW hardly notice less, but nobody clips so much."""
CLIPS_TO_JUDGE = 3
"""Observed calls of clipping for a judgment."""
MIN_SUMMED = 3
"""Backward passes for each step from which a sum of gradients is far larger than their mean; a GAN has two."""
MIN_SUMMED_STEPS = 2
"""Steps after the first one for a judgment about sums of gradients."""
MIN_SHARE_OF_BATCHES = 0.9
"""Batches per backward pass of a loop that uses another batch in each backward pass."""
MIN_SHARE_CUT = 0.9
"""Share of gradients cut by clipping of values from which only their signs are left."""
GRAPH_TOLERANCE = 0.02
"""Relative difference of the number of operations from 2 and 3 times the first one."""
LOSS_MISTAKES = MappingProxyType(
    {
        "loss-broadcast": kinds.LOSS_BROADCAST,
        "nll-without-log-softmax": kinds.NLL_WITHOUT_LOG_SOFTMAX,
        "softmax-over-batch": kinds.SOFTMAX_OVER_BATCH,
        "reshaped-axes": kinds.AXES_EXCHANGED,
    }
)
"""Findings by the kind of mistake that the graph of a loss has."""
NAMES = {
    "NllLoss": "cross-entropy", "NllLoss2D": "cross-entropy", "NllLossNd": "cross-entropy",
    "MseLoss": "the squared error", "L1Loss": "the absolute error", "SmoothL1Loss": "the smooth absolute error",
    "HuberLoss": "the Huber loss", "BinaryCrossEntropy": "binary cross-entropy",
    "BinaryCrossEntropyWithLogits": "binary cross-entropy",
}  # fmt: skip
"""Names of losses by the names of their operations in torch."""


def gradient_findings_of_loop(facts: LoopFacts) -> list[Finding]:
    """Reports missing or misplaced calls of zero_grad, backward, step and gradient clipping in a training loop.

    >>> gradient_findings_of_loop(LoopFacts())
    []
    """
    found = [*_loss(facts), *_clipping(facts), *precision_findings_of_loop(facts), *_sums(facts)]
    for one in facts.optimizers:
        found += _optimizer(one, facts)
    total = facts.observed_backwards
    if facts.discarded >= max(MIN_DISCARDED, MIN_SHARE * total):
        found.append(Finding(kinds.GRADIENTS_DISCARDED, values={"count": facts.discarded, "backwards": total}))
    return found


def _loss(facts: LoopFacts) -> list[Finding]:
    found = []
    if facts.negated and len([one for one in facts.optimizers if one.steps]) == 1:  # GANs may negate a loss on purpose.
        found.append(Finding(kinds.NEGATED_LOSS, values={"loss": NAMES.get(facts.negated, facts.negated)}))
    if facts.applied_twice:
        found.append(Finding(kinds.APPLIED_TWICE, values={"function": facts.applied_twice}))
    if facts.subtracts_penalty and not facts.negated:
        found.append(Finding(kinds.PENALTY_SUBTRACTED))
    if facts.loss_mistake:
        found.append(Finding(LOSS_MISTAKES[facts.loss_mistake]))
    return [*found, *_graph(facts), *_cut_off(facts)]


def _graph(facts: LoopFacts) -> list[Finding]:
    """Reports graphs that hold the batches of all earlier steps: they have 1, 2, 3, ... times as many operations.

    Also reports graphs that are only kept, and not used again.
    """
    growing = _growing_graph(facts)
    held = [Finding(kinds.GRAPHS_HELD, values={"count": facts.held_graphs})] if facts.held_graphs else []
    return growing or held


def _growing_graph(facts: LoopFacts) -> list[Finding]:
    if len(facts.operations) < 3 or 2 * facts.retained < facts.observed_backwards:
        return []
    first, second, third = facts.operations[:3]
    if (
        abs(second - 2 * first) > 2 + GRAPH_TOLERANCE * first
        or abs(third - 3 * first) > 4 + 2 * GRAPH_TOLERANCE * first
    ):
        return []
    return [Finding(kinds.GRAPH_KEPT, values={"first": first, "second": second, "third": third})]


def _sums(facts: LoopFacts) -> list[Finding]:
    """Reports gradients of several batches that are added without division, unless the optimizer ignores their size."""
    used = [one for one in facts.optimizers if one.steps]
    drawn = sum(one.batches for one in facts.loaders if one.backwards)
    if len(used) != 1 or used[0].name != "SGD" or not facts.mean_loss or facts.discarded:
        return []
    each = facts.observed_backwards / max(1, used[0].judged + 1)
    per_batch = MIN_SHARE_OF_BATCHES * facts.observed_backwards <= drawn
    if each < MIN_SUMMED or not per_batch or used[0].stale or used[0].judged < MIN_SUMMED_STEPS:
        return []
    return [Finding(kinds.NOT_AVERAGED, values={"each": round(each), "optimizer": used[0].name})]


def _cut_off(facts: LoopFacts) -> list[Finding]:
    if facts.graphless is not None:
        return [Finding(kinds.LOSS_WITHOUT_GRAPH, values={"step": facts.graphless})]
    if facts.leaf_losses < max(MIN_BACKWARDS, MIN_SHARE * facts.observed_backwards):
        return []
    values = {"count": facts.leaf_losses, "backwards": facts.observed_backwards, "step": facts.first_leaf}
    return [Finding(kinds.LEAF_LOSS, values=values)]


def _optimizer(one: OptimizerFacts, facts: LoopFacts) -> list[Finding]:
    values = {"optimizer": one.name, "steps": one.steps, "backwards": facts.backwards}
    if not one.steps:
        alone = len(facts.optimizers) == 1 or not facts.steps
        unused = facts.backwards >= MIN_BACKWARDS and one.changed is False and (alone or not one.rebuilt)
        return [Finding(kinds.STEP_MISSING, values=values)] if unused and facts.finished else []
    found = []
    if not facts.backwards and one.empty == one.sampled > 0:
        return [Finding(kinds.BACKWARD_MISSING, values=values)]
    if one.stale > MIN_SHARE * one.judged and one.stale >= MIN_BACKWARDS:
        found.append(Finding(kinds.GRADIENTS_NOT_CLEARED, values=values | {"stale": one.stale, "steps": one.judged}))
    if one.empty > MIN_SHARE * one.sampled and one.empty >= MIN_BACKWARDS:
        found.append(Finding(kinds.CLEARED_TOO_EARLY, values=values | {"empty": one.empty, "steps": one.sampled}))
    if one.repeated > MIN_SHARE * one.steps and one.repeated >= MIN_BACKWARDS:
        found.append(Finding(kinds.STEP_REPEATED, values=values | {"count": one.repeated}))
    if one.changed is False and one.steps >= MIN_BACKWARDS:
        found.append(Finding(kinds.WEIGHTS_UNCHANGED, values=values | {"lr": one.rate}))
    return found


def _clipping(facts: LoopFacts) -> list[Finding]:
    clips = facts.clips
    found = []
    if len(clips.values_clipped) >= CLIPS_TO_JUDGE and (share := median(clips.values_clipped)) > MIN_SHARE_CUT:
        values = {"limit": clips.value_limit, "share": share, "count": len(clips.values_clipped)}
        found.append(Finding(kinds.VALUES_CLIPPED_TO_NOTHING, values=values))
    if not clips.calls:
        return found
    used = median(norm for _, norm in facts.norms) if facts.norms else 0.0
    if len(clips.norms) >= CLIPS_TO_JUDGE and not any(clips.norms) and used > 0:
        return [*found, Finding(kinds.NOTHING_CLIPPED, values={"count": len(clips.norms), "norm": used})]
    if clips.misplaced > 0.5 * clips.calls and clips.misplaced >= MIN_BACKWARDS:
        found.append(Finding(kinds.CLIP_WITHOUT_EFFECT, values={"count": clips.misplaced, "total": clips.calls}))
    elif len(clips.norms) >= CLIPS_TO_JUDGE and clips.limit < MAX_SHARE_LEFT * (norm := median(clips.norms)):
        values = {"limit": clips.limit, "norm": norm, "count": len(clips.norms), "share": clips.limit / norm}
        found.append(Finding(kinds.CLIPPED_TO_NOTHING, values=values | {"advice": norm}))
    return found
