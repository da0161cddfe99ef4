"""Defines the findings (problems, warnings and notes) about a trained network's predictions: confidence, robustness,
shortcuts.
"""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level

_kind = partial(FindingKind, page="topics/faults.md")
_attribution = partial(FindingKind, page="topics/attribution.md")
_robustness = partial(FindingKind, page="topics/robustness.md")

OVERCONFIDENT = _kind("overconfident", Level.NOTE,
    "The mean confidence is {gap:.1%} above the accuracy.",
    "Divide the logits by a temperature fitted on held-out data.")
OVERCONFIDENT_LOGITS = _kind("overconfident-logits", Level.NOTE,
    "The network is overconfident: the best temperature is {temperature:.3g} ({interval}).",
    "Divide the logits by {temperature:.3g} before the softmax.")
SHIFTED = (
    "Shifting images by {pixel} changes {share} of the decisions (on {images} images).",
    "Train on randomly shifted images, and average (blur or pool) before layers with a stride.",
)
SHIFTS_BUT_GOOD = _kind("shifts-change-decisions", Level.NOTE, *SHIFTED)
SHIFTS_CHANGE_DECISIONS = _kind("shifts-change-decisions", Level.WARNING, *SHIFTED,
    milder_if="good_results", milder=SHIFTS_BUT_GOOD)

REMOVE_SHORTCUT = (
    "Look for a label, a mark or a recording artifact in this feature. Remove it from the data and train again."
)
SWAPPED = (
    "Replacing this feature by its value in an example of another class changes {lost:.0%} of the correct decisions."
)
SHORTCUT = _attribution("shortcut", Level.PROBLEM,
    f"The network uses {{names}}, which alone predicts the class ({{alone:.0%}} correct). {SWAPPED}",
    REMOVE_SHORTCUT)
SHORTCUT_OFFERED = _attribution("shortcut", Level.WARNING,
    f"The class can be predicted from {{names}} alone ({{alone:.0%}} correct, chance {{chance:.0%}}), so training may "
    f"learn only this shortcut. {SWAPPED}",
    REMOVE_SHORTCUT)
STRONG_FEATURE = _attribution("shortcut", Level.NOTE, SHORTCUT.message, REMOVE_SHORTCUT)
MAP_IGNORES_MODEL = _attribution("map-ignores-model", Level.PROBLEM,
    "The attribution maps of '{method}' stay the same if the weights of the model are shuffled.",
    "Do not explain this model with these maps; use integrated gradients.")
DEAD_BLOCK = _attribution("dead-block", Level.WARNING,
    "The block '{where}' has no effect on the outputs.",
    "Remove the block, or initialize its last layer with nonzero weights.")
GRADIENT_MASKING = _robustness("gradient-masking", Level.PROBLEM,
    "{reasons}.",
    "Rely only on attacks without gradients, or attack a model without the layer that masks them.")
ROBUSTNESS_PREMISE = _robustness("robustness-premise", Level.PROBLEM, "{reasons}.", "{advice}")
INVERSE_UNSTABLE = _robustness("inverse-unstable", Level.PROBLEM,
    "Applying the module and then its inverse changes the inputs by a relative error of {error:.1e}.",
    "Compute in float64, or limit the Lipschitz constants of its blocks, so that the condition number is small.")
