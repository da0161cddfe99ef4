"""Lists all kinds of findings in the order of severity, the most serious first.

A problem comes before a warning, a warning before a note. Among findings of one level the order of this list decides
which one is reported first. To change the order, move a name.

>>> TABLE[0].id, rank_in_table(TABLE[3])
('constant-inputs', 3)
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Finding, FindingKind, Level
from gnomon.findings import (
    data,
    decisions,
    design,
    generative,
    loading,
    loop,
    loop_losses,
    network,
    repairs,
    structured,
    theory,
    training,
)

__all__ = ["KINDS", "TABLE", "check_finding_kinds", "most_serious_first", "rank_in_table"]

TABLE: tuple[FindingKind, ...] = (
    # Findings: problems that prevent training altogether.
    data.CONSTANT_INPUTS, data.ONE_CLASS, design.LAYER_IN_FORWARD,
    design.WEIGHTS_CHANGED, design.WRONG_SIGN, design.WRONG_SIGN_NUMBERS,
    design.SOFTMAX_OF_ONE, design.CONSTANT_LOSS, design.LOSS_IGNORES_CLASS, design.LOSS_IGNORES_EXAMPLES,
    design.LOSS_BLIND_TO_SCALE, design.OVERSHOOT_REWARDED, design.LOSS_WITHOUT_TARGETS,
    design.CLASS_DROWNED, network.BROADCAST_LOSS, network.SOFTMAX_BEFORE_LOSS,
    network.NO_LOG_PROBABILITIES, network.SIGMOID_BEFORE_LOSS, network.FROZEN, data.CONSTANT_TARGETS,
    network.GRADIENT_NOT_FINITE, network.NOT_FINITE, data.SKEWED_TARGETS,
    data.CIRCULAR_TARGETS, data.INPUT_SCALE, network.ZERO_WEIGHTS, design.SYMMETRIC_UNITS, design.GRADIENT_HOOKS,
    design.LARGE_EPSILON, design.NORMALIZED_OUTPUT, design.AXES_RESHAPED, data.TARGET_SCALE, data.ALL_COLUMNS_SCALE,
    network.DEAD_BY_BIAS, network.DEAD_LAYER, network.NOT_REGISTERED, network.EXAMPLES_MIXED, network.NOT_IN_OPTIMIZER,
    network.RANDOM_IN_EVAL, network.DETACHED, network.NOT_DETERMINISTIC, network.BOUNDED_VANISHES,
    network.GRADIENTS_VANISH_IN_BOUNDED, network.VANISHING_ACTIVATIONS,
    network.VANISHING_AT_LAYER, network.NARROW_LAYER, network.EXPLODING_ACTIVATIONS, network.EXPLODING_AT_LAYER,
    network.VANISHING_GRADIENTS, network.GRADIENTS_VANISH_AT_LAYER, network.EXPLODING_GRADIENTS,
    network.GRADIENTS_EXPLODE_AT_LAYER, data.CLASS_MISSING, data.CLASSES_RENUMBERED, loading.AUGMENTATION_SCALE,
    loading.AUGMENTATION_DESTROYS, loading.SORTED_BATCHES, design.PADDING_INDEX, network.SATURATED_UNITS,
    data.LEAKED_TEST,
    data.REPEATED_IN_TEST, data.GROUPS_IN_BOTH, data.ROW_NUMBER, data.LEAKED_TARGET, data.CLASSES_ON_ONE_OUTPUT,
    data.TARGETS_OUTSIDE_LOSS, data.CLASS_NUMBERS, data.SENTINEL_VALUES, data.OUTLIER_ROWS, data.MOSTLY_COPIES,
    data.RELABELED_CLASS, data.CATEGORY_CODES, data.VOID_LABEL_REFUSED, data.VOID_LABEL_COUNTED,
    data.PADDING_COUNTED, data.ROUNDED_TARGETS, data.LEAKED_VALUE, data.TARGETS_COPIED,
    data.DRIFTED_COLUMNS, data.SHIFTED_MASKS,
    data.STANDARDIZED_ROWS, data.TOKENS_RENUMBERED, data.SHORTCUT_IN_TRAIN,
    network.VANISHED_OUTPUTS, network.ALL_INPUTS_IGNORED,
    # Findings: mistakes in the user's own training loop, which only `gnomon watch` sees.
    loop.NO_BATCHES, loop.BACKWARD_MISSING, loop.STEP_MISSING, loop.LEAF_LOSS, loop.LOSS_WITHOUT_GRAPH,
    loop.OTHER_MODEL, loop.CLEARED_TOO_EARLY, loop.GRADIENTS_NOT_CLEARED, loop.GRAPH_KEPT, loop.STEP_REPEATED,
    loop_losses.NAN_IN_INPUTS, loop_losses.NAN_IN_MODULE, loop_losses.NAN_IN_WEIGHTS,
    loop_losses.NAN_BEFORE_FAILURE, loop.NEGATED_LOSS, loop.APPLIED_TWICE, loop.LOSS_BROADCAST,
    loop.NLL_WITHOUT_LOG_SOFTMAX, loop.SOFTMAX_OVER_BATCH, loop.LEARNING_RATE_ZERO, loop.WEIGHT_DECAY_LARGE,
    loop_losses.NAN_IN_LOSS, loop_losses.NAN_SEEN_LATE, loop.WEIGHTS_UNCHANGED, loop.CLIPPED_TO_NOTHING,
    loop.MISSING_PARAMETERS,
    loop.BATCHES_UNUSED, loop.GRADIENTS_DISCARDED, loop.OPTIMIZER_REBUILT, loop.NO_GRADIENT, loop.SEED_RESET,
    loop.SAME_BATCH, loop.SORTED_DATA, loop.RANKS_SAME_DATA, loop.RANKS_DIFFER, loop.TRAIN_MISSING, loop.EVAL_MISSING,
    loop.VALIDATED_COPY, loop.STATE_IS_REFERENCE, loop.STATE_NOT_LOADED, loop.LAYER_OF_ONE_CALL, loop.AXES_EXCHANGED,
    loop.NOT_CLEARED_BY_HAND, loop.PENALTY_SUBTRACTED, loop.SCALER_BYPASSED, loop.CLIP_BEFORE_UNSCALE,
    loop.VALUES_CLIPPED_TO_NOTHING, loop.STEP_IN_VALIDATION, loop.DROPOUT_IN_EVAL, loop.DATA_CHANGED,
    loop.EPOCH_CUT_SHORT, loop.RATE_NOT_APPLIED, loop.SCHEDULER_OF_ANOTHER,
    loop.SCHEDULER_TOO_FAST, loop.SCHEDULER_WRAPPED, loop_losses.GRADIENTS_EXPLODED, loop_losses.LOSS_ROSE,
    # Findings: problems that make training slow or its result wrong.
    repairs.REPAIR_FOUND, data.COLUMN_SCALE, data.COLUMN_OFFSET,
    design.STEP_FUNCTION, design.FROZEN_AND_POOR, design.NO_ACTIVATION, design.ONE_LAYER,
    design.BOTTLENECK, design.READS_PADDING, design.ORDER_IGNORED, design.RATE_DECAYS_AWAY, design.RATE_STAYS_LOW,
    design.PLACES_IGNORED, design.NO_BIASES,
    network.RELU_BEFORE_LOSS, network.TANH_BEFORE_LOSS,
    network.TARGETS_OUT_OF_REACH, network.MODES_DISAGREE, data.SHUFFLED_IN_TRAIN, data.SHUFFLED_IN_TEST,
    data.LABELS_UNRELATED,
    structured.SEES_THE_FUTURE, training.ABOVE_KERNEL_LIMIT, network.STATISTICS_LOST, network.STATISTICS_WRONG,
    network.FROZEN_AT_RANDOM, training.EXPLODING_LOSS, network.INPUTS_IGNORED,
    network.ARGUMENT_IGNORED, network.CONSTANT_LAYER,
    training.TOO_LARGE_TO_LEARN, network.BATCH_TOO_SMALL, training.WEIGHT_DECAY_WINS, training.ABOVE_STABLE,
    data.CONFLICTING_COPIES, data.CHANGED_IMAGES, data.CLASS_CUE, data.DESCRIBED_SHIFT,
    data.TRAIN_TEST_SHIFT, data.CLASS_SHIFT, network.WRONG_GRADIENT,
    training.TRAINING_DIVERGED, data.NOISY_LABELS, data.MUCH_NOISIER_THAN_TEST, data.TARGET_SHIFT,
    data.LABEL_RATES, network.DEAD_UNITS, network.DEAD_AFTER_TRAINING,
    training.LEARNING_RATE_TOO_SMALL, network.MERGED_INPUTS, network.INDISTINCT_EXAMPLES, structured.TOKENS_ALIKE,
    structured.TOKENS_COLLAPSE, structured.STATE_GROWS, network.TOKENS_IGNORED, network.UNUSED_PARAMETERS,
    data.LABELS_OFF_BY_ONE, data.MANY_UNUSUAL, training.BEYOND_EDGE, training.UNSTABLE_HERE,
    structured.MEMORY_TOO_SHORT, structured.WORSE_THAN_COUNTING, structured.NODE_ORDER_COUNTS, structured.OVERSMOOTHED,
    decisions.SHORTCUT, decisions.MAP_IGNORES_MODEL, decisions.GRADIENT_MASKING, decisions.ROBUSTNESS_PREMISE,
    decisions.INVERSE_UNSTABLE, training.NOT_LEARNING, training.REGRESSION_NOT_LEARNING, structured.ATTENTION_SATURATED,
    structured.GATES_FORGET, training.NOTHING_LEARNED, training.REGRESSION_NOTHING_LEARNED,
    training.INITIAL_LOSS_NEGATIVE, training.CANNOT_FIT_BATCH,    training.REPEATS_INPUT, training.RARE_CLASS_LOST,
    training.FAR_BELOW_SIMPLE,
    training.REGRESSION_FAR_BELOW_SIMPLE, training.STRONG_OVERFIT, training.REGRESSION_STRONG_OVERFIT,
    training.CHANCE_LEVEL,
    # Findings that only separate analyses report, not `gnomon.examine`.
    theory.ZERO_MATRIX, theory.INDEFINITE, theory.ASYMMETRIC, theory.JITTER_HIDES, theory.CHAINS_NOT_CONVERGED,
    theory.MANY_DIVERGENT_PATHS, theory.NO_LAW, theory.CONTROL_HOLDS, theory.UNEXPECTED_VERDICT,
    generative.DENSITY_NOT_NORMALIZED, generative.FLOW_NOT_INVERTIBLE, generative.LOG_DETERMINANT_WRONG,
    generative.GAME_DIVERGED, generative.POSTERIOR_COLLAPSED, generative.GENERATOR_SILENCED, generative.SCORE_WRONG,
    generative.MODES_DROPPED, generative.MANY_MEMORIZED, generative.LATENT_HOLES, generative.SAMPLES_DIFFER,
    generative.SAMPLES_COLLAPSED,
    # Warnings.
    network.NO_PARAMETERS, repairs.REPAIR_HELPS,
    data.UNRELATED_SO_FAR, data.NOISIER_THAN_TEST, data.TARGETS_UNRELATED, training.UNDERFIT,
    training.REGRESSION_UNDERFIT, data.FEW_PER_CLASS, data.TOO_FEW_EXAMPLES, data.NO_RELATION_SEEN,
    data.REPEATED_COLUMNS,
    data.FILLED_COLUMNS, data.SOME_COPIES, data.STANDARDIZED_ALONE, training.OVERFIT,
    training.REGRESSION_OVERFIT, data.IMBALANCE,
    training.UNDERTRAINED, training.UNTRAINED, training.CHANCE_SO_FAR, training.HARDLY_LEARNED,
    training.BATCH_NEEDS_OTHER_OPTIMIZER, training.INITIAL_LOSS_HIGH, training.INITIAL_LOSS_OTHER,
    training.UPDATES_TOO_SMALL, training.UPDATES_TOO_LARGE, training.LAYER_HARDLY_MOVES, data.WEAK_SEGMENT,
    network.SIMILAR_INPUTS,    network.SMALL_GRADIENTS,
    network.LAST_BATCH_OF_ONE, network.STATISTICS_LAG, data.REPEATED_EXAMPLES,
    data.CONSTANT_CHANNELS, training.TEST_LOSS_ROSE, training.PREDICTED_DIVERGENCE, network.UNUSED_UNITS,
    structured.HARMLESS_SMOOTHING, data.SMALL_SHIFT, data.SMALL_CLASS_SHIFT, data.SOME_UNUSUAL,
    network.SOMETIMES_UNUSED, structured.DEAD_HEAD, decisions.SHORTCUT_OFFERED, generative.ROTATING_GAME,
    generative.WORSE_THAN_PCA, generative.RATIO_NOT_CALIBRATED, generative.SOME_MEMORIZED,
    generative.SAMPLES_HARDLY_DIFFER, theory.FLOAT32_ROUNDING,
    structured.SHORT_MEMORY_SO_FAR, training.BELOW_LIMIT, training.BELOW_LEAST_SQUARES, structured.OVERSQUASHED,
    theory.SINGULAR, theory.ILL_CONDITIONED, theory.ILL_CONDITIONED_FLOAT64, training.FAR_BELOW_STABLE,
    decisions.SHIFTS_CHANGE_DECISIONS, data.EMPTY_CLASSES, data.COARSE_EXAMPLES, network.DEAD_BEHIND_FROZEN,
    structured.GRAPHS_NOT_TOLD_APART, decisions.DEAD_BLOCK, theory.DUPLICATE_ROWS, theory.MUCH_NEVER_LEARNED,
    theory.DIVERGENT_PATHS, theory.UNSURE_TERMS, generative.SCORE_TURNS, loop.TRAIN_NEVER, loop.SCHEDULER_FIRST,
    loop.SCHEDULER_NEVER, loop.SCHEDULER_TOO_SLOW, loop.CLIP_WITHOUT_EFFECT, loop.STEP_OUTSIDE_LOOP,
    loop.ZERO_GRADIENT, loop_losses.LOSS_NOT_FALLING, loop.VALIDATION_WITH_GRADIENTS,
    loop.VALIDATION_ON_TRAINING_DATA, loop.MODEL_REBUILT, loop.OPTIMIZER_REBUILT_IN_EPOCH, loop.RANDOM_LAYER_FROZEN,
    loop.GRAPHS_HELD, loop.HALF_WITHOUT_SCALER, loop.NOT_AVERAGED, loop.BATCH_NORM_OF_ONE, loop.HARDLY_MOVED,
    loop.VALIDATION_INPUTS_DIFFER, loop.SCHEDULER_WRONG_DIRECTION, loop.NOTHING_CLIPPED, loop_losses.LOSS_SUMMED,
    loop_losses.LOSS_OF_GUESSING, loop.RANK_LOST,
    # Notes.
    network.UNUSED_ARGUMENT, network.OUTPUTS_WITHOUT_LOSS,
    training.LEARNING_RATE_SMALL, training.ENDS_UNSTABLE, decisions.SHIFTS_BUT_GOOD, training.BELOW_LIMIT_BUT_GOOD,
    data.ROWS_STANDARDIZED_NOTE, loading.SORTED_ROWS, loading.ROWS_DRIFT, data.CONSTANT_COLUMNS,
    network.ZERO_LAST_LAYER,
    decisions.OVERCONFIDENT, decisions.OVERCONFIDENT_LOGITS, decisions.STRONG_FEATURE, structured.OUT_OF_REACH,
    theory.MORE_DATA_HELPS, theory.MORE_DATA_IS_LITTLE, theory.RANK_DEFICIENT, theory.JITTER_NEEDED,
    theory.NEVER_LEARNED, loop.MISSING_PRETRAINED, loop.UNUSED_PART,
)  # fmt: skip
"""All kinds of findings, the most serious first."""

KINDS: tuple[str, ...] = tuple(dict.fromkeys(kind.id for kind in TABLE))
"""The ids of all kinds, in the same order."""


@add_call_to_errors
def rank_in_table(kind: FindingKind) -> int:
    """Returns the rank of a kind of finding by severity, 0 for the most serious; unknown kinds come last.

    >>> rank_in_table(TABLE[2]), rank_in_table(FindingKind("sparse-layer", Level.NOTE, "A layer is sparse.",
    ...     "Prune it.")) == len(TABLE)
    (2, True)
    """
    return next((place for place, other in enumerate(TABLE) if other == kind), len(TABLE))


@add_call_to_errors
def most_serious_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorts findings by severity, the most serious first.

    >>> small, large = Finding(training.LEARNING_RATE_SMALL), Finding(network.DEAD_LAYER)
    >>> [finding.kind for finding in most_serious_first([small, large])]
    ['dead-units', 'learning-rate-small']
    """
    return tuple(sorted(findings, key=lambda finding: (-finding.level, rank_in_table(finding.row))))


@add_call_to_errors
def check_finding_kinds(words: Sequence[str]) -> tuple[str, ...]:
    """Checks that each word is the id of a kind of finding, or a level such as "problem"; raises `InputError` if not.

    >>> check_finding_kinds(["overfit", "warning"])
    ('overfit', 'warning')
    """
    known = [*KINDS, *(level.name.lower() for level in Level)]
    for word in words:
        if word not in known:
            near = get_close_matches(word, known, 3, 0.5) or ["problem", "warning"]
            what, fix = f"no finding is called '{word}'", f"Write for instance {' or '.join(near)}"
            raise InputError(what, accepted="a kind of finding, or a level", fix=fix)
    return tuple(words)
