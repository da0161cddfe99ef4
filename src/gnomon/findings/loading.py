"""Defines the findings about how training examples are augmented and in which order they are read."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import OUTCOMES

_kind = partial(FindingKind, page="topics/faults.md")

AUGMENTATION_SCALE = _kind("augmentation-normalizes", Level.PROBLEM,
    "The augmentation changes the scale of the inputs: mean {mean:.3g} and standard deviation {std:.3g} become "
    "{other_mean:.3g} and {other_std:.3g}. Test inputs do not get it.",
    "Take normalization out of the augmentation, and apply it to both train and test.",
    causes=(*OUTCOMES, "train-test-shift"))
AUGMENTATION_DESTROYS = _kind("augmentation-destroys", Level.PROBLEM,
    "The augmentation destroys what decides the targets: a simple model scores {given:.1%} on inputs as given, and "
    "{after:.1%} on augmented ones.",
    "Leave out or weaken the augmentation. If it mixes examples (mixup), mix their targets with the same weights.",
    causes=OUTCOMES, refuted_if="good_results")
SORTED_BATCHES = _kind("row-order", Level.PROBLEM,
    "The loader gives the {examples} training examples sorted by their target, so each batch holds one kind of them.",
    "Shuffle: DataLoader(..., shuffle=True).",
    causes=OUTCOMES)
SORTED_ROWS = _kind("row-order", Level.NOTE,
    "The {examples} training rows are sorted by their target. They were shuffled here.",
    "Shuffle them in your own loop: DataLoader(..., shuffle=True). Shuffle before you split.")
ROWS_DRIFT = _kind("row-order", Level.NOTE,
    "The training rows are not in random order: {column} rises or falls with the row number (rank correlation {rho:.2f}"
    "; {count} columns do). The rows may be ordered in time.",
    "If they are, train on the past and test on the future instead of splitting at random.")
