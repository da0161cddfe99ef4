"""Defines the findings (problems, warnings and notes) about inputs, labels and the split into train and test."""
# fmt: off

from functools import partial

from gnomon.core.results import FindingKind, Level
from gnomon.findings.groups import AFTER_SCALE, DIVERGENCE, OUTCOMES

_kind = partial(FindingKind, page="topics/faults.md")

CONSTANT_INPUTS = _kind("constant-inputs", Level.PROBLEM,
    "All training inputs are the same.",
    "Check how the inputs are loaded.",
    causes=OUTCOMES)
ONE_CLASS = _kind("one-class", Level.PROBLEM,
    "All training labels are the same.",
    "Add examples of other classes.",
    causes=OUTCOMES)
EMPTY_CLASSES = _kind("empty-classes", Level.WARNING,
    "{empty} of {classes} classes have no training example.",
    "Add examples of these classes, or remove their outputs.")
FEW_PER_CLASS = _kind("too-few-examples", Level.WARNING,
    "There are {examples} training examples for {classes} classes, {each:.2g} of each on average. This is not enough "
    "data to find out whether anything is wrong.",
    "Collect more examples: with {least} of each class this warning ends, and {better} are enough for most networks.")
TOO_FEW_EXAMPLES = _kind("too-few-examples", Level.WARNING,
    "Number of training examples: {examples}. This is not enough data to find out whether anything is wrong.",
    "Pass at least {least} training examples; a few hundred are enough for most measurements.")
INPUT_SCALE = _kind("input-scale", Level.PROBLEM,
    "The typical size of the inputs (root mean square) is {size:.3g}; networks expect about 1.",
    "Standardize the inputs.",
    causes=AFTER_SCALE)

STANDARDIZE = "Standardize each column of train and test: x = (x - x_train.mean(0)) / x_train.std(0)."
COLUMN_SCALE = _kind("feature-scale", Level.PROBLEM,
    "Column {column} has {ratio:.3g} times the spread of the other columns, so it drowns them out.",
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
    "{constant} of {total} columns have the same nonzero value in all rows, for example {names}.",
    "Check how these columns are loaded, or drop them: x = x[:, x_train.std(0) > 0].")
CONSTANT_CHANNELS = _kind("constant-features", Level.WARNING,
    "Constant channels ({constant} of {total}) carry no information: {names}.",
    "Check how these channels are loaded (a broken sensor, an empty color plane), or drop them.")
REPEATED_COLUMNS = _kind("repeated-features", Level.WARNING,
    "{repeated} columns are multiples of another column: {names}.",
    "Keep one column of each group, or check how the table was joined.")

MATCH_TARGETS = "Check that each target belongs to its input. Shuffle both in the same order: x[order] and y[order]."
SHUFFLED_IN_TRAIN = _kind("labels-unrelated", Level.PROBLEM,
    "Training targets do not match their inputs. Compared with guessing, a simple model removes {train:.0%} of the "
    "errors on the training set and {test:.0%} on the test set.",
    MATCH_TARGETS,
    causes=OUTCOMES)
SHUFFLED_IN_TEST = _kind("labels-unrelated", Level.PROBLEM,
    "Test targets do not match their inputs. A simple model removes {train:.0%} of the errors of a guess on the "
    "training set and {test:.0%} on the test set; fitted to other test examples it removes {within:.0%} there.",
    f"{MATCH_TARGETS} The test score says nothing until then.",
    causes=("shortcut-in-train", "overfit", "train-test-shift", "chance-level", "noisy-labels", "classes-renumbered"))
UNRELATED_SO_FAR = _kind("labels-unrelated", Level.WARNING,
    "Before training, labels look unrelated to inputs: shuffled labels fit equally well (p-value {p_value:.2g}){score}."
    " Training was too short to decide this.",
    "Check that each label belongs to its input, or give training more time.",
    refuted_if="labels_related")
LABELS_UNRELATED = _kind("labels-unrelated", Level.PROBLEM,
    "Labels look unrelated to inputs. Shuffled labels fit equally well, both in the tangent kernel of the network "
    "(p-value {p_value:.2g} on {examples} examples) and in a kernel of the raw inputs (p-value {inputs_p_value:.2g} "
    "on {asked} examples){score}.",
    "Check that each label belongs to its input (rows shuffled or shifted by one?), and that the columns that decide "
    "the label are among the inputs.",
    causes=OUTCOMES, refuted_if="labels_related", milder_if="short_training", milder=UNRELATED_SO_FAR)
NO_RELATION_SEEN = _kind("labels-unrelated", Level.WARNING,
    "A simple model finds no relation between labels and inputs: it is right on {accuracy:.1%} of held-out examples, "
    "and guessing is right on {guess:.1%}.",
    "Check that each label belongs to its input: shuffle both in the same order, x[order] and y[order]. Ignore this "
    "if training learns the labels.",
    refuted_if="labels_related")
TARGETS_UNRELATED = _kind("labels-unrelated", Level.WARNING,
    "The network explains {explained:.1%} of the variance of training targets and none of test targets. A simple model "
    "explains none either: the targets look unrelated to the inputs.",
    f"{MATCH_TARGETS} Or train longer.",
    refuted_if="labels_related")
NOISY_LABELS = _kind("noisy-labels", Level.PROBLEM,
    "About {share:.1%} of the labels are wrong: they contradict similar examples that clearly agree with each other.",
    "Check the labels of training examples {first} first. Correct or drop the wrong ones.")
MUCH_NOISIER_THAN_TEST = _kind("noisy-labels", Level.PROBLEM,
    "About {share:.0%} of the labels of training examples{which} are wrong: a simple model contradicts {share:.0%} "
    "more of them than of the test labels.",
    "Check training examples{which} that a model fitted to other examples contradicts. Correct or drop the wrong ones.",
    causes=("overfit",))
NOISIER_THAN_TEST = _kind("noisy-labels", Level.WARNING,
    "About {share:.0%} of the labels of training examples{which} are wrong: a simple model contradicts {share:.0%} "
    "more of them than of the test labels.",
    "Check training examples{which} that a model fitted to other examples contradicts. Correct or drop the wrong ones.")
CONFLICTING_COPIES = _kind("conflicting-labels", Level.PROBLEM,
    "{share:.1%} of the examples have a copy with another label, so no network can be right on more than {best:.1%} "
    "of the training examples.",
    "Keep one label for each example: drop the others before training, train = [train[i] for i in kept].")
COARSE_EXAMPLES = _kind("conflicting-labels", Level.WARNING,
    "{share:.1%} of the examples have the same inputs as an example with another label, so no network can be right on "
    "more than {best:.1%} of the training examples.",
    "Add features that distinguish these examples.")
LEAKED_TEST = _kind("leaked-test", Level.PROBLEM,
    "{share:.1%} of {test} test examples are also in train: {exact} equal, {near} nearly equal.",
    "Split the data first (train_test_split), then augment or oversample only the training set. Drop these test "
    "examples.")
ALSO_REPEATED = (
    "{share:.1%} of {test} test examples are also in train: {exact} equal, {near} nearly equal. The training set "
    "repeats its own examples equally often."
)
DROP_REPEATED = "Drop repeated examples before you split."
REPEATED_EXAMPLES = _kind("leaked-test", Level.WARNING, ALSO_REPEATED, DROP_REPEATED)
REPEATED_IN_TEST = _kind("leaked-test", Level.PROBLEM, ALSO_REPEATED, DROP_REPEATED)

DROP_TARGET_COLUMN = (
    "Drop this column, x = x[:, kept], unless its value is known before the target is known. Then train and test again."
)
LEAKED_TARGET = _kind("leaked-target", Level.PROBLEM,
    "Column {column} gives the target by itself: {score:.1%} {unit} ({examples} examples). No other column comes "
    "close.",
    DROP_TARGET_COLUMN)
ONE_PREPROCESSING = "Use the same preprocessing for train and test, or split at random."
INPUTS_DIFFER = (
    "Test inputs differ from training inputs: a classifier can distinguish them in {auc:.0%} of pairs (chance: 50%)."
)
TRAIN_TEST_SHIFT = _kind("train-test-shift", Level.PROBLEM, INPUTS_DIFFER, ONE_PREPROCESSING)
SMALL_SHIFT = _kind("train-test-shift", Level.WARNING, INPUTS_DIFFER, ONE_PREPROCESSING)
CLASSES_DIFFER = (
    "Class frequencies differ between the training and test sets: {share:.0%} of the test examples would need another "
    "class to make them equal."
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
    "The targets have mean {center:.3g} and standard deviation {size:.3g}, but initial outputs have a size near 1: "
    "the initial loss is {start:.2g} times the loss of predicting the mean.",
    "Standardize the targets, y = (y - y_train.mean()) / y_train.std(), and undo it for predictions.",
    causes=AFTER_SCALE)
CLASS_MISSING = _kind("class-missing", Level.PROBLEM,
    "Class {first} has no training example; {share:.1%} of the test examples belong to classes without training "
    "examples.",
    "Split with stratify=y, so that train contains every class, and check how labels are loaded.")
LABELS_OFF_BY_ONE = _kind("labels-off-by-one", Level.PROBLEM,
    "Labels run from 1 to {last}, but the network has outputs for 0 to {last}.",
    "Number the classes from 0, y = y - 1, and give the network {last} outputs.")

IMBALANCE = _kind("imbalance", Level.WARNING,
    "The classes are imbalanced: the largest has {largest:.1%} of the examples, {ratio:.0f} times as many as the "
    "smallest. Always guessing the largest class is right in {largest:.1%} of cases.",
    "Weight the loss, CrossEntropyLoss(weight=1 / counts), and report balanced accuracy instead of accuracy.")

CLASS_NUMBERS = _kind("class-numbers", Level.PROBLEM,
    "The targets are numbers of {classes} classes ({first} to {last}), but the network fits them as quantities. A "
    "simple model is right on {as_classes:.0%} of {n} left-out examples if it predicts classes, and on "
    "{as_numbers:.0%} if it predicts the number and rounds.",
    "Give the last layer {classes} outputs and use CrossEntropyLoss with y.long() - {first}.",
    causes=(*OUTCOMES, "target-scale"))
TARGETS_OUTSIDE_LOSS = _kind("targets-outside-loss", Level.PROBLEM,
    "{share:.0%} of the targets are outside the range that the loss accepts ({accepted}), for example {example:g}. For "
    "them the loss has no minimum: it falls forever as the output grows.",
    "Bring the targets into {accepted}, or use a squared loss.",
    causes=(*OUTCOMES, *DIVERGENCE))
CLASSES_ON_ONE_OUTPUT = _kind("targets-outside-loss", Level.PROBLEM,
    "The targets are numbers of {classes} classes (up to {last}), but the loss accepts only {accepted}. For other "
    "targets it has no minimum: it falls forever as the output grows.",
    "Give the last layer {classes} outputs and use CrossEntropyLoss with y.long().",
    causes=(*OUTCOMES, *DIVERGENCE, "class-numbers"))
SENTINEL_VALUES = _kind("sentinel-values", Level.PROBLEM,
    "Column {column} holds the value {value:g} in {rows} of {examples} rows, and all other values are between "
    "{low:.3g} and {high:.3g}. This value probably means \"missing\" ({columns} columns have such a value).",
    "Before standardizing, replace it by the median of the other rows, and add a 0/1 column that marks missing values.",
    causes=("feature-scale", "input-scale", "outlier-rows", "labels-unrelated", *AFTER_SCALE))
OUTLIER_ROWS = _kind("outlier-rows", Level.PROBLEM,
    "{rows} of {examples} rows have values far outside of all others, for example {worst:.3g} in column {column}, "
    "although other values stay within {usual:.3g} of the median. Such rows dominate the loss.",
    "Check rows {first} first. Remove them, or clip the columns to the range of the other rows.",
    causes=("feature-scale", "input-scale", "labels-unrelated", *AFTER_SCALE))
MOSTLY_COPIES = _kind("repeated-rows", Level.PROBLEM,
    "The training set has {total} examples but only {distinct} different ones; one occurs {largest} times.",
    "Remove the copies and collect more different examples. Weight examples in the loss instead of repeating them.",
    causes=("overfit", "underfit", "below-limit"))
SOME_COPIES = _kind("repeated-rows", Level.WARNING,
    "{distinct} of {total} training examples are different; the others are exact copies (one occurs {largest} times).",
    "Remove the copies, unless you repeat rare examples on purpose.")
RELABELED_CLASS = _kind("relabeled-class", Level.PROBLEM,
    "Many training examples of class {true} seem to be labeled {given}. A simple model fitted to the training labels "
    "calls {by_train:.0%} of {examples} test examples of class {true} a {given}; fitted to the test labels it does so "
    "for {by_test:.0%}.",
    "Check the training examples labeled {given}, and relabel the examples of class {true} among them.",
    causes=("noisy-labels", "class-shift", "labels-unrelated", "overfit"))
GROUPS_IN_BOTH = _kind("groups-in-both", Level.PROBLEM,
    "{share:.0%} of {test} test examples have a group of about {size} nearly equal training examples with the same "
    "label. Of the examples outside such groups, {outside:.0%} have the label of their nearest training example. The "
    "test score measures how well groups are "
    "recognized.",
    "Split by group (patient, speaker, session), so that all examples of a group are on one side: GroupShuffleSplit.",
    causes=("leaked-test",))
ROW_NUMBER = _kind("row-number", Level.PROBLEM,
    "Column {column} numbers the rows, and the nearest training row in this column alone removes {saved:.0%} of the "
    "errors of guessing on {test} test examples. The network can copy the target of the neighboring row.",
    "Drop this column. If rows are ordered in time, train on the past and test on the future instead of splitting at "
    "random.",
    causes=("leaked-target",))
CATEGORY_CODES = _kind("category-codes", Level.PROBLEM,
    "Column {column} has {codes} values without order: the mean target of each value explains {by_code:.0%} of the "
    "variance, and a smooth function of the number {by_size:.0%}. It looks like category codes used as a number.",
    "One-hot encode this column (F.one_hot), or use nn.Embedding.",
    causes=("underfit", "below-limit"))
VOID_LABEL_COUNTED = _kind("void-label", Level.PROBLEM,
    "Label {label} marks unknown positions ({share:.0%} of all), but the loss counts them like a class.",
    "Pass ignore_index={label} to the cross-entropy.",
    causes=OUTCOMES)
VOID_LABEL_REFUSED = _kind("void-label", Level.PROBLEM,
    "Label {label} marks unknown positions ({share:.0%} of all), and the loss refuses it: training stops with an "
    "error.",
    "Pass ignore_index={label} to the cross-entropy.",
    causes=OUTCOMES)
PADDING_COUNTED = _kind("void-label", Level.PROBLEM,
    "Class {label} fills {share:.0%} of the target positions, at the ends of the sequences, so it is probably padding. "
    "The loss counts these positions, and the network can lower it by saying {label} everywhere.",
    "Pass ignore_index={label} to the cross-entropy, and measure accuracy on the other positions only.",
    causes=OUTCOMES)
SKEWED_TARGETS = _kind("skewed-targets", Level.PROBLEM,
    "The largest 2 % of the targets hold {share:.0%} of their squared deviations from the mean (median {middle:.3g}, "
    "largest {high:.3g}), so a few examples decide the squared error.",
    "Train on the logarithm of the target, log(y) or log1p(y), and take exp of the predictions.",
    causes=(*OUTCOMES, "target-scale", "outlier-rows", *DIVERGENCE))
CIRCULAR_TARGETS = _kind("circular-targets", Level.PROBLEM,
    "The smallest and the largest targets have the same inputs: {share:.0%} of the examples at one end of the range "
    "({low:.3g} to {high:.3g}) have their nearest input at the other end. This is typical of angles, hours or days, "
    "" "whose end is next to the beginning.",
    "Predict the sine and the cosine of the angle, two outputs, and use atan2(sine, cosine).",
    causes=(*OUTCOMES, "target-scale"))
ROUNDED_TARGETS = _kind("target-shift", Level.PROBLEM,
    "All {examples} training targets are whole numbers, but {share:.0%} of the test targets are not.",
    "Check how the training targets are stored or converted: int, astype(int) and // cut off the digits.",
    causes=("train-test-shift", "overfit", "underfit", "labels-unrelated", "class-numbers"))
LEAKED_VALUE = _kind("leaked-target", Level.PROBLEM,
    "The target equals the input at place {place} in {share:.0%} of {examples} examples, so it is part of the input.",
    "Take the target from after the window: for a table shift(-1) instead of shift(1). Then train and test again.")
TARGETS_COPIED = _kind("targets-copied", Level.PROBLEM,
    "{share:.0%} of the targets equal the input at the same position, so the network only learns to copy.",
    "Shift the targets by one position: inputs tokens[:, :-1], targets tokens[:, 1:].",
    causes=(*OUTCOMES, "sees-the-future"))
DRIFTED_COLUMNS = _kind("drifted-columns", Level.PROBLEM,
    "{count} of {total} columns have another distribution in test than in train: {columns}.",
    "Check units and preprocessing of these columns. Prepare train and test in the same way.",
    causes=("train-test-shift", "overfit", "chance-level"))
CHANGED_IMAGES = _kind("train-test-shift", Level.PROBLEM,
    "Test images are {change} compared with training images: after {code} they have the same mean image.",
    "Prepare train and test in the same way: {code}.",
    causes=("train-test-shift", "overfit", "chance-level", "shifts-change-decisions"))
SHORTCUT_IN_TRAIN = _kind("shortcut-in-train", Level.PROBLEM,
    "{count} input features vary only in train ({names}), and they alone are enough to predict the class of "
    "{accuracy:.0%} of "
    "{examples} training examples (guessing: {guess:.0%}). The network can learn them instead of the task.",
    "Remove these features from the training inputs, for example x[:, marked] = 0, and train again.",
    causes=("train-test-shift", "overfit", "drifted-columns"))
STANDARDIZED_ALONE = _kind("standardized-alone", Level.WARNING,
    "All {columns} columns of the {examples} test examples have mean 0 and standard deviation 1 exactly: they were "
    "standardized by their own statistics.",
    "Use the statistics of the training set for both: x_test = (x_test - x_train.mean(0)) / x_train.std(0).",
    causes=("overfit",))
USUAL_ROWS = (
    "Each of the {rows} rows has mean 0 and the same standard deviation: it was standardized by its own {columns} "
    "columns, which removes the level and the spread of the example.",
    "Standardize the columns instead: x = (x - x_train.mean(0)) / x_train.std(0), or pass the mean and the deviation "
    "of each row as two more columns.",
)
ROWS_STANDARDIZED_NOTE = _kind("standardized-rows", Level.NOTE, *USUAL_ROWS)
STANDARDIZED_ROWS = _kind("standardized-rows", Level.PROBLEM, *USUAL_ROWS,
    causes=("labels-unrelated", *OUTCOMES), milder_if="good_results", milder=ROWS_STANDARDIZED_NOTE)
TOKENS_RENUMBERED = _kind("tokens-renumbered", Level.PROBLEM,
    "Train and test number the tokens differently: the frequencies of {tokens:,} tokens differ by {apart:.0%}, but "
    "sorted by size they differ by only {ordered:.0%}.",
    "Use the vocabulary (tokenizer) that was fitted to the training texts for the test texts.",
    causes=("train-test-shift", "overfit", "chance-level", "labels-unrelated", "noisy-labels"))
SHIFTED_MASKS = _kind("shifted-masks", Level.PROBLEM,
    "The masks of the training images are shifted by {down} pixels down and {right} to the right: moved back, the "
    "classes explain {best:.0%} of the variance of the images instead of {own:.0%} ({examples} images).",
    "Align masks and images: y = y.roll(({up}, {left}), (1, 2)), or check how masks are cropped and loaded.",
    causes=("labels-unrelated", "noisy-labels"))
TARGET_SHIFT = _kind("target-shift", Level.PROBLEM,
    "Targets have another distribution in train (mean {mean:.3g}, standard deviation {deviation:.3g}) than in test "
    "({test_mean:.3g}, {test_deviation:.3g}); {outside:.0%} of {examples} training targets are outside the range of "
    "the test targets.",
    "Check the training targets outside of this range first (wrong units, wrong entries?). Prepare both sets in the "
    "same "
    "way.",
    causes=("train-test-shift", "overfit", "chance-level", "underfit", "labels-unrelated"))
LABEL_RATES = _kind("target-shift", Level.PROBLEM,
    "{labels} of {total} labels are more or less frequent in train than in test: label {label} is 1 for {rate:.0%} of "
    "the training examples and {test_rate:.0%} of the test examples.",
    "Check how the training examples were labeled (were labels left out?). Label both sets in the same way.",
    causes=("train-test-shift", "overfit", "chance-level", "labels-unrelated"))
DESCRIBED_SHIFT = _kind("train-test-shift", Level.PROBLEM,
    INPUTS_DIFFER + " They differ most in their {name}, {train:.3g} in train and {test:.3g} in test on average: "
    "{hint}.",
    "Prepare train and test in the same way: the same scale, noise, order and recording.",
    causes=("shifts-change-decisions",))
CLASS_CUE = _kind("shortcut-in-train", Level.PROBLEM,
    "In train, the {name} of an input depends on its class ({own:.0%} of its variance on {examples} examples), in test "
    "it does not ({other:.0%}). The network can learn this instead of the task.",
    "Remove the difference from the inputs, for example by standardizing each example: "
    "(x - x.mean(dims, keepdim=True)) / x.std(dims, keepdim=True).",
    causes=("train-test-shift", "overfit", "chance-level", "shifts-change-decisions"))
CLASSES_RENUMBERED = _kind("classes-renumbered", Level.PROBLEM,
    "Train and test number the classes differently: a simple model fitted to the training labels gives {count} of "
    "{classes} test classes another number ({pairs}), always the same one.",
    "Use one mapping from names to numbers for both sets: for folders the class_to_idx of the training set. For color "
    "images, also check the order of the channels (RGB or BGR).",
    causes=("relabeled-class", "train-test-shift", "class-shift", "noisy-labels", "labels-unrelated",
            "shortcut-in-train", "overfit", "chance-level", "overconfident"))
WEAK_SEGMENT = _kind("weak-segment", Level.WARNING,
    "If column {column} is {side} {threshold:.3g}, the network is much worse: its error is {within:.1%} on "
    "{examples} examples there and {outside:.1%} elsewhere. The rule was found on half of the test examples, and these "
    "numbers are from the other half.",
    "Check how these examples were recorded and labeled, and collect more of them.")
