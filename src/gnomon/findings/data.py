"""Kinds of findings about inputs, labels and the split into train and test."""
# fmt: off

from functools import partial

from gnomon.core.results import Kind, Level
from gnomon.findings.groups import AFTER_SCALE, OUTCOMES

_kind = partial(Kind, page="topics/faults.md")

CONSTANT_INPUTS = _kind("constant-inputs", Level.PROBLEM,
    "All examples are the same.",
    "Check how the inputs are loaded.",
    causes=OUTCOMES)
ONE_CLASS = _kind("one-class", Level.PROBLEM,
    "All labels are the same.",
    "Add examples of other classes.",
    causes=OUTCOMES)
EMPTY_CLASSES = _kind("empty-classes", Level.WARNING,
    "{empty} of {classes} classes have no training example.",
    "Add examples of these classes, or remove their outputs.")
TOO_FEW_EXAMPLES = _kind("too-few-examples", Level.WARNING,
    "Number of training examples: {examples}. This is not enough data to find out whether anything is wrong.",
    "Pass at least {least} training examples; a few hundred are enough for most measurements.")
INPUT_SCALE = _kind("input-scale", Level.PROBLEM,
    "The typical size of the inputs (root mean square) is {size:.3g}; networks expect about 1.",
    "Standardize the inputs.",
    causes=AFTER_SCALE)

STANDARDIZE = "Standardize each column of train and test: x = (x - x_train.mean(0)) / x_train.std(0)."
COLUMN_SCALE = _kind("feature-scale", Level.PROBLEM,
    "Column {column} has {ratio:.3g} times the spread of other columns and hides them.",
    STANDARDIZE,
    causes=("input-scale", *AFTER_SCALE))
COLUMN_OFFSET = _kind("feature-scale", Level.PROBLEM,
    "The mean of a column is {offset:.3g} times its spread away from zero.",
    STANDARDIZE,
    causes=("input-scale", *AFTER_SCALE))
ALL_COLUMNS_SCALE = _kind("feature-scale", Level.PROBLEM,
    "All columns are too {word}: the largest spread is {largest:.3g}; networks expect about 1.",
    STANDARDIZE,
    causes=("input-scale", *AFTER_SCALE))
CONSTANT_COLUMNS = _kind("constant-features", Level.NOTE,
    "Constant columns ({constant} of {total}) carry no information, for example {names}.",
    "Drop constant columns, x = x[:, x_train.std(0) > 0], or check how they are loaded.")
FILLED_COLUMNS = _kind("constant-features", Level.WARNING,
    "{constant} of {total} columns have one value other than zero in all rows, for example {names}.",
    "Check how these columns are loaded, or drop them: x = x[:, x_train.std(0) > 0].")
CONSTANT_CHANNELS = _kind("constant-features", Level.WARNING,
    "Constant channels ({constant} of {total}) carry no information: {names}.",
    "Check how these channels are loaded (a broken sensor, an empty color plane), or drop them.")
REPEATED_COLUMNS = _kind("repeated-features", Level.WARNING,
    "{repeated} columns repeat another column up to scale: {names}.",
    "Keep one column of each group, or check how the table was joined.")

MATCH_TARGETS = "Check that each target belongs to its input. Shuffle both in the same order: x[order] and y[order]."
SHUFFLED_IN_TRAIN = _kind("labels-unrelated", Level.PROBLEM,
    "Training targets do not match their inputs: a simple model removes {train:.0%} of the errors of guessing on train "
    "and {test:.0%} on test.",
    MATCH_TARGETS,
    causes=OUTCOMES)
UNRELATED_SO_FAR = _kind("labels-unrelated", Level.WARNING,
    "Before training, labels look unrelated to inputs: shuffled labels fit equally well (p-value {p_value:.2g}){score}."
    " Training was too short to decide.",
    "Check that each label belongs to its input, or give training more time.",
    refuted_if="labels_related")
LABELS_UNRELATED = _kind("labels-unrelated", Level.PROBLEM,
    "Labels look unrelated to inputs. Shuffled labels fit equally well, both for the network on {examples} examples "
    "(p-value {p_value:.2g}) and for the inputs of {asked} examples ({inputs_p_value:.2g}){score}.",
    "Check that each label belongs to its input; the labels look shuffled.",
    causes=OUTCOMES, refuted_if="labels_related", milder_if="short_training", milder=UNRELATED_SO_FAR)
NO_RELATION_SEEN = _kind("labels-unrelated", Level.WARNING,
    "A simple model is right on {accuracy:.1%} of held-out examples, guessing on {guess:.1%}: it finds no relation "
    "between labels and inputs.",
    "Check that each label belongs to its input, x[order] and y[order], unless training learns the labels.",
    refuted_if="labels_related")
TARGETS_UNRELATED = _kind("labels-unrelated", Level.WARNING,
    "The network explains {explained:.1%} of the variance of training targets and none of test targets. A simple model "
    "explains none either: the targets look unrelated to the inputs.",
    f"{MATCH_TARGETS} Or train longer.",
    refuted_if="labels_related")
NOISY_LABELS = _kind("noisy-labels", Level.PROBLEM,
    "About {share:.1%} of the labels are wrong: they contradict similar examples that clearly agree with each other.",
    "Check the labels of training examples {first} first. Correct or drop the wrong ones.")
NOISIER_THAN_TEST = _kind("noisy-labels", Level.WARNING,
    "A simple model contradicts {share:.0%} more labels of training examples{which} than of test examples; about "
    "{share:.0%} of these training labels are wrong.",
    "Check training examples{which} that a model fitted to other examples contradicts. Correct or drop the wrong ones.")
CONFLICTING_COPIES = _kind("conflicting-labels", Level.PROBLEM,
    "{share:.1%} of the examples have a copy with another label, so no network can be right on more than {best:.1%} of "
    "train.",
    "Keep one label for each example: drop the others before training, train = [train[i] for i in kept].")
COARSE_EXAMPLES = _kind("conflicting-labels", Level.WARNING,
    "{share:.1%} of the examples have an equal with another label, so no network can be right on more than {best:.1%} "
    "of train.",
    "Add features that distinguish these examples; with the present ones no network can do better.")
LEAKED_TEST = _kind("leaked-test", Level.PROBLEM,
    "{share:.1%} of {test} test examples are also in train: {exact} equal, {near} nearly equal.",
    "Split first, then augment or oversample only train: call train_test_split before that line. Drop these test "
    "examples.")
REPEATED_EXAMPLES = _kind("leaked-test", Level.WARNING,
    "{share:.1%} of {test} test examples are also in train: {exact} equal, {near} nearly equal. Train repeats examples "
    "equally often.",
    "Drop repeated examples before you split.")

ONE_PREPROCESSING = "Use the same preprocessing for train and test, or split at random."
INPUTS_DIFFER = (
    "Test inputs differ from training inputs: a classifier distinguishes them in {auc:.0%} of pairs (chance: 50%)."
)
TRAIN_TEST_SHIFT = _kind("train-test-shift", Level.PROBLEM, INPUTS_DIFFER, ONE_PREPROCESSING)
SMALL_SHIFT = _kind("train-test-shift", Level.WARNING, INPUTS_DIFFER, ONE_PREPROCESSING)
CLASSES_DIFFER = (
    "Class frequencies differ between train and test: to match, {share:.0%} of the test examples would have to change "
    "their class."
)
STRATIFY = "Split with stratify=y: train_test_split(x, y, stratify=y)."
CLASS_SHIFT = _kind("class-shift", Level.PROBLEM, CLASSES_DIFFER, STRATIFY)
SMALL_CLASS_SHIFT = _kind("class-shift", Level.WARNING, CLASSES_DIFFER, STRATIFY)
STRANGE = "{excess:.1%} of the test examples are unlike any training example."
CHECK_STRANGE = "Check test examples {first} first: were they prepared and labeled like the training examples?"
MANY_UNUSUAL = _kind("train-test-shift", Level.PROBLEM, STRANGE, CHECK_STRANGE)
SOME_UNUSUAL = _kind("train-test-shift", Level.WARNING, STRANGE, CHECK_STRANGE)

CONSTANT_TARGETS = _kind("constant-targets", Level.PROBLEM,
    "All targets are {center:.4g}: there is nothing to learn.",
    "Check how the targets are loaded.")
TARGET_SCALE = _kind("target-scale", Level.PROBLEM,
    "The targets have mean {center:.3g} and spread {size:.3g}, but outputs start near size 1: the first loss is "
    "{start:.2g} times the loss of predicting the mean.",
    "Standardize the targets, y = (y - y_train.mean()) / y_train.std(), and undo it for predictions.",
    causes=AFTER_SCALE)
CLASS_MISSING = _kind("class-missing", Level.PROBLEM,
    "Class {first} has no training example; {share:.1%} of the test examples belong to such classes.",
    "Split with stratify=y, so that train contains every class, and check how labels are loaded.")
LABELS_OFF_BY_ONE = _kind("labels-off-by-one", Level.PROBLEM,
    "Labels run from 1 to {last}, but the network has outputs for 0 to {last}.",
    "Number the classes from 0, y = y - 1, and give the network {last} outputs.")

IMBALANCE = _kind("imbalance", Level.WARNING,
    "The largest class has {largest:.1%} of the examples and {ratio:.0f} times as many as the smallest. Always "
    "guessing it is right in {largest:.1%} of cases.",
    "Weight the loss, CrossEntropyLoss(weight=1 / counts), and report balanced accuracy instead of accuracy.")
