"""Compares the labels of train and test: are training labels wrong more often, or unrelated to the inputs?

A simple model, kernel regression, is fitted to training examples. If both sets have the same distribution, it is right
on as many test labels as on training labels that it leaves out, class by class. With the shares a_c of n_c training and
b_c of m_c test examples of class c,

    z_c^2 = 2 (n_c KL(a_c, p_c) + m_c KL(b_c, p_c)),    p_c the share of both, z_c > 0 if b_c > a_c             (1)
    z = sum_c w_c (b_c - a_c) / sqrt(sum_c w_c^2 p_c (1 - p_c) (1 / n_c + 1 / m_c)),  w_c = n_c m_c / (n_c + m_c)  (2)

and training labels that are wrong more often make them large. Classes are compared one by one, so that those which
are more frequent in one set do not count. A model fitted to the test examples alone shows whether inputs and targets
are related there: targets that a model of all training examples says nothing of, while fewer test examples suffice to
predict others of them, were put out of order.

Hypotheses: independent examples; inputs of train and test have the same distribution and are prepared in the same way
(no augmentation of train alone); no test example is a copy of a training example.
Reference: [northcutt2021confident] on labels of train and of test; [wilks1938large] for (1), the likelihood ratio,
[mantel1959statistical] for (2).

>>> g = torch.Generator().manual_seed(0)
>>> x, y = torch.randn(1200, 4, generator=g), torch.randint(0, 2, (1200,), generator=g)
>>> x[:, 0] += 4.0 * y
>>> told = compare_labels(x[:800], torch.where(torch.arange(800) < 160, 1 - y[:800], y[:800]), x[800:], y[800:])
>>> told.findings[0].kind, round(told.difference, 1)
('noisy-labels', 0.2)
>>> compare_labels(x[:800], y[:800], x[800:], y[800:]).findings
()
"""

from dataclasses import dataclass
from math import erfc, log, sqrt

import torch
from torch import Tensor

from gnomon.checks.data.kernel_votes import leave_one_out_kernel_predictions
from gnomon.checks.data.rows import joint_example_rows
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.inputs.checks import check_seed
from gnomon.core.inputs.classes import are_classes
from gnomon.core.results import Finding, Result, Value
from gnomon.findings import data as kinds

__all__ = ["MAX_TRAIN_EXAMPLES", "MAX_TEST_EXAMPLES", "LabelComparison", "compare_labels"]

MAX_TRAIN_EXAMPLES = 2000
"""Training examples used, at most."""
MAX_TEST_EXAMPLES = 1000
"""Test examples used, at most."""
MIN_EXAMPLES = 100
"""Examples needed in each set, at least."""
EXAMPLES_PER_FIT = 1000
"""Number of training examples fitted at once."""
SKETCH_DIRECTIONS = 256
"""Random directions that replace the inputs if they have more features."""
SKETCH_COLUMNS = 16
"""Random combinations that replace the targets if they have more columns."""
LARGE_SHARE = 0.15
"""Share of wrong labels from which they are a problem: a network that memorizes them loses several points."""
MIN_CLASS_EXAMPLES = 10
"""Examples of a class needed in each set to compare it."""
SIGNIFICANCE_LEVEL = 2.5e-4
"""False-alarm rate of (2), and of (1) for all classes together."""
MIN_DIFFERENCE = 0.05
"""Difference that matters."""
MIN_CLASS_DIFFERENCE = 0.1
"""Difference within one class that matters."""
GUESSING_Z = 3.0
"""z-score up to which a score counts as guessing."""
CLEARLY_BETTER_Z = 5.0
"""z-score above which a score is clearly better than guessing."""
MIN_CLEAR_SHARE = 0.3
"""Score on train from which test labels must be predictable as well."""
MIN_TEST_EXAMPLES = 150
"""Test examples needed to say that their labels are unrelated to their inputs."""
MIN_EXPLAINED_SHARE = 0.1
"""Score that a clear relation must reach."""
CLIPPING_DEVIATIONS = 4.0
"""Table entries are clipped at this many standard deviations."""


@dataclass(frozen=True, slots=True)
class LabelComparison(Result):
    """Result: how well a simple model predicts training labels and test labels, and the class with the largest
    difference.

    A score is the share of the errors of a guess that it saves, and its deviation by chance is ``chance`` on train and
    ``chance_test`` on test. ``difference`` and ``z`` are defined by (2), ``worst``, ``worst_difference`` and
    ``worst_z`` the class with the largest (1) of ``classes``; ``within`` is None if it was not needed. ``examples`` is
    0 if there are too few. ``held`` is the score of the model of the training examples on test labels, ``held_within``
    the score of a model of other test examples; both are None if they were not needed.
    """

    train: float = 0.0
    chance: float = 1.0
    within: float | None = None
    chance_test: float = 1.0
    difference: float = 0.0
    z: float = 0.0
    worst: int = -1
    worst_difference: float = 0.0
    worst_z: float = 0.0
    classes: int = 0
    examples: int = 0
    held: float | None = None
    held_within: float | None = None

    @property
    def unrelated_in_test(self) -> bool:
        """Checks whether labels are related to the inputs in the training set but not in the test set.

        Neither a model of the training examples nor one of other test examples predicts the test labels.
        """
        return (
            self.held is not None
            and self.held_within is not None
            and max(self.held, self.held_within) < GUESSING_Z * self.chance_test
        )

    @property
    def unrelated(self) -> bool:
        """Checks whether labels are related to the inputs in the test set but not in the training set."""
        nothing = self.train < GUESSING_Z * self.chance
        return (
            nothing
            and self.within is not None
            and self.within > max(MIN_EXPLAINED_SHARE, CLEARLY_BETTER_Z * self.chance_test)
        )

    @property
    def noisier(self) -> bool:
        """Checks whether training labels are wrong more often than test labels, overall or in one class."""
        return self._overall or (
            _p_value(self.worst_z) * self.classes < SIGNIFICANCE_LEVEL and self.worst_difference > MIN_CLASS_DIFFERENCE
        )

    @property
    def _overall(self) -> bool:
        return _p_value(self.z) < SIGNIFICANCE_LEVEL and self.difference > MIN_DIFFERENCE

    @property
    def verdict(self) -> str:
        """Says in one sentence whether train and test have labels of the same quality."""
        if self.findings:
            return self.findings[0].message
        if not self.examples:
            return "There are not enough examples to compare the labels of train and test."
        return "A simple model predicts the labels of train and test equally well."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Reports a problem if training labels are unrelated to their inputs, or wrong more often than test labels."""
        if self.unrelated and self.within is not None:
            evidence = Value("errors avoided in train", self.train), Value("errors avoided in test", self.within)
            values = {"train": max(self.train, 0.0), "test": self.within}
            return (Finding(kinds.SHUFFLED_IN_TRAIN, "labels", values, evidence, 1e-5),)
        if self.unrelated_in_test:
            told = {
                "train": self.train,
                "test": max(self.held or 0.0, 0.0),
                "within": max(self.held_within or 0.0, 0.0),
            }
            evidence = Value("errors avoided in train", self.train), Value("errors avoided in test", told["test"])
            return (Finding(kinds.SHUFFLED_IN_TEST, "test", told, evidence, 1e-5),)
        if not self.noisier:
            return ()
        overall = self._overall
        which, by = ("", self.difference) if overall else (f" with label {self.worst}", self.worst_difference)

        evidence = (Value("difference in the share of contradicted labels", by),
                    Value("z-score", self.z if overall else self.worst_z))  # fmt: skip
        row = kinds.MUCH_NOISIER_THAN_TEST if overall and by >= LARGE_SHARE else kinds.NOISIER_THAN_TEST
        return (Finding(row, "labels", {"share": by, "which": which}, evidence, 2 * SIGNIFICANCE_LEVEL),)


@add_call_to_errors
def compare_labels(x: Inputs, y: Tensor, x_test: Inputs, y_test: Tensor, *, seed: int = 0) -> LabelComparison:
    """Fits a simple model to the training set and compares how well it predicts training labels and test labels.

    See equations (1) and (2) of the module docstring.
    Integers (n,) are classes; of numbers only the relation to the inputs is compared.

    Hypotheses: as above. False alarms: 2.5e-4 for each of (1) and (2).
    Reference: [northcutt2021confident].
    Cost: about half a second on one core for 2000 and 1000 examples.

    >>> compare_labels(torch.zeros(5, 1), torch.zeros(5), torch.zeros(5, 1), torch.zeros(5)).examples  # too few
    0
    """
    seed = check_seed(seed)
    (x, y), (x_test, y_test) = _draw(x, y, MAX_TRAIN_EXAMPLES, seed), _draw(x_test, y_test, MAX_TEST_EXAMPLES, seed)
    n, m = len(y), len(y_test)
    if min(n, m) < MIN_EXAMPLES or y.shape[1:] != y_test.shape[1:] or are_classes(y) != are_classes(y_test):
        return LabelComparison()
    both = _sketch(joint_example_rows(x, x_test, seed=seed), seed)
    table = _table(torch.cat([y, y_test]), seed)
    if not bool((table[:n].std(0) > 0).any()) or not bool((table[n:].std(0) > 0).any()):
        return LabelComparison()
    votes = leave_one_out_kernel_predictions(both, table, seed=seed, examples_per_fit=EXAMPLES_PER_FIT, max_fitted=n)
    train, chance = _score(votes[:n], table[:n])
    within, chance_test = None, 1.0
    # The training labels look unrelated to the inputs, so this tests whether the test labels are related to them.
    if train < GUESSING_Z * chance and n >= m:
        within, chance_test = _score(
            leave_one_out_kernel_predictions(both[n:], table[n:], seed=seed, examples_per_fit=EXAMPLES_PER_FIT),
            table[n:],
        )
    held, own = None, None
    if train > max(MIN_CLEAR_SHARE, CLEARLY_BETTER_Z * chance) and m >= MIN_TEST_EXAMPLES:
        held, chance_test = _score(votes[n:], table[n:])
        if held < GUESSING_Z * chance_test:
            others = leave_one_out_kernel_predictions(both[n:], table[n:], seed=seed, examples_per_fit=EXAMPLES_PER_FIT)
            own = _score(others, table[n:])[0]
    if not are_classes(y):
        return LabelComparison(train, chance, within, chance_test, examples=n, held=held, held_within=own)
    code = table.argmax(1)
    right = (votes.argmax(1) == code).double()
    return LabelComparison(train, chance, within, chance_test, *_by_class(right, code, n), n, held, own)


def _draw(x: Inputs, y: Tensor, most: int, seed: int) -> tuple[Inputs, Tensor]:
    index = torch.randperm(count_examples(x), generator=torch.Generator().manual_seed(seed))[:most]
    return take_examples(x, index), y.detach().cpu()[index]


def _sketch(rows: Tensor, seed: int) -> Tensor:
    """Clips outliers and projects long rows to a few random directions, which approximately preserves distances."""
    if rows.shape[1] <= SKETCH_DIRECTIONS:
        return (
            rows.clamp(-CLIPPING_DEVIATIONS, CLIPPING_DEVIATIONS)
            if float(rows.abs().max()) > CLIPPING_DEVIATIONS
            else rows
        )
    g = torch.Generator().manual_seed(seed)
    return rows @ torch.randn(rows.shape[1], SKETCH_DIRECTIONS, generator=g) / sqrt(SKETCH_DIRECTIONS)


def _table(y: Tensor, seed: int) -> Tensor:
    """Converts targets to a numeric table: one-hot rows for classes, standardized columns for numbers."""
    if are_classes(y):
        return torch.nn.functional.one_hot(torch.unique(y.long(), return_inverse=True)[1]).double()
    table = y.double().reshape(len(y), -1)
    spread = table.std(0)
    table = (table - table.mean(0)) / torch.where(spread > 0, spread, 1.0)
    if table.shape[1] <= SKETCH_COLUMNS:
        return table
    g = torch.Generator().manual_seed(seed)
    return table @ torch.randn(table.shape[1], SKETCH_COLUMNS, generator=g, dtype=torch.float64)


def _score(v: Tensor, table: Tensor) -> tuple[float, float]:
    """Returns the fraction of the targets' variance that predictions explain, and its standard deviation for unrelated
    targets.

    Without a relation v and the targets are independent, and the mean of n products has a deviation of 1 / sqrt(n) in
    units of both sizes: the share 2 <v, y> - <v, v> is at most <v, y>^2 / <v, v>, which is about chi^2 / n.
    """
    centered = table - table.mean(0)
    total = float(centered.square().sum())
    return 1 - float((v - table).square().sum()) / total, 1 / len(v)


def _by_class(right: Tensor, code: Tensor, n: int) -> tuple[float, float, int, float, float, int]:
    """Compares a model's accuracy on train and test: difference with z-score, overall and for the class that differs
    most.

    See equations (2) and (1) of the module docstring.
    """
    rows = []
    for c in code.unique().tolist():
        a, b = right[:n][code[:n] == c], right[n:][code[n:] == c]
        if min(len(a), len(b)) < MIN_CLASS_EXAMPLES:
            continue
        p = float((a.sum() + b.sum() + 1) / (len(a) + len(b) + 2))
        variance = p * (1 - p) * (1 / len(a) + 1 / len(b))
        rows.append((c, float(b.mean() - a.mean()), variance, len(a) * len(b) / (len(a) + len(b)), _root(a, b)))
    if not rows:
        return 0.0, 0.0, -1, 0.0, 0.0, 0
    total = sum(row[3] for row in rows)
    difference = sum(w * d for _, d, _, w, _ in rows) / total
    z = difference / sqrt(sum((w / total) ** 2 * v for _, _, v, w, _ in rows))  # (2)
    worst, apart, _, _, own = max(rows, key=lambda row: row[4])
    return difference, z, worst, apart, own, len(rows)


def _root(a: Tensor, b: Tensor) -> float:
    """Returns a z-score for the difference between two accuracies, from a likelihood-ratio test.

    See equation (1) of the module docstring.
    """
    p = float((a.sum() + b.sum()) / (len(a) + len(b)))
    twice = 2 * sum(len(t) * _divergence(float(t.mean()), p) for t in (a, b))
    return sqrt(max(twice, 0.0)) * (1 if float(b.mean()) > float(a.mean()) else -1)


def _divergence(a: float, p: float) -> float:
    """Returns the Kullback-Leibler divergence of two Bernoulli distributions."""
    return sum(q * log(q / r) for q, r in ((a, p), (1 - a, 1 - p)) if q > 0)


def _p_value(z: float) -> float:
    return 0.5 * erfc(z / sqrt(2))
