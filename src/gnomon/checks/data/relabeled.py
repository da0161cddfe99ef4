"""Finds classes whose training examples are mostly labeled as another class.

A simple model (kernel regression) is fitted to the training labels and predicts test examples. A second one is fitted
to the test labels alone and predicts each test example from the others. For test examples of class a,

    q_ab = share that the model of train calls b,    r_ab = share that the model of test calls b               (1)

If the classes overlap, both are large. If training examples of class a are labeled b, only q_ab is large. If

    q_{a pi(a)} > `MIN_RENUMBERED_SHARE` for all classes a,    with pi a permutation that moves two or more      (2)

the two sets number their classes differently.

Hypotheses: test labels are right; train and test have the same distribution of inputs; independent examples.
Reference: [northcutt2021confident].

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> y = torch.randint(0, 3, (900,), generator=g)
>>> x = 4 * torch.eye(3)[y] + torch.randn(900, 3, generator=g)
>>> labels = torch.where((y[:600] == 1) & (torch.rand(600, generator=g) < 0.8), 2, y[:600])
>>> found = relabeled_class_findings(x[:600], labels, x[600:], y[600:])[0]
>>> found.values["true"], found.values["given"]
(1, 2)
>>> relabeled_class_findings(x[:600], y[:600], x[600:], y[600:])
()
"""

from math import sqrt

import torch
from torch import Tensor

from gnomon.checks.data.kernel_votes import leave_one_out_kernel_predictions
from gnomon.checks.data.rows import joint_example_rows
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["relabeled_class_findings"]

MIN_TEST_EXAMPLES = 15
"""Minimum number of test examples of a class."""
MIN_DIFFERENCE = 0.3
"""Smallest difference of q_ab and r_ab in (1) that is reported."""
MIN_Z = 5.0
"""z-score of the difference; with 100 pairs of classes, healthy data exceed it with probability 3e-5."""
MIN_RENUMBERED_SHARE = 0.6
"""Smallest share q in (2); of a class with wrong labels at random, no single other class gets so much."""
MAX_NAMED_PAIRS = 3
"""Classes named in a message, at most."""
EXAMPLES_PER_FIT = 1000
"""Number of training examples fitted at once."""


def relabeled_class_findings(
    x: Inputs, y: Tensor, x_test: Inputs, y_test: Tensor, *, seed: int = 0
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a problem if most training examples of one class have the label of another class.

    See equation (1) of the module docstring.
    False alarms: none of 30 data sets with separate or overlapping classes.
    Cost: two kernel regressions, about half a second for 2000 and 1000 examples.

    >>> relabeled_class_findings(torch.zeros(4, 1), torch.zeros(4).long(), torch.zeros(2, 1), torch.zeros(2).long())
    ()
    """
    y, y_test = y.detach().cpu().long().flatten(), y_test.detach().cpu().long().flatten()
    classes = int(torch.cat([y, y_test]).max()) + 1
    often = [c for c in y_test.unique().tolist() if int((y_test == c).sum()) >= MIN_TEST_EXAMPLES]
    if len(often) < 2 or len(y) < len(y_test):
        return ()
    rows, n = joint_example_rows(x, x_test, seed=seed), len(y)
    table = torch.nn.functional.one_hot(torch.cat([y, y_test]), classes).double()
    by_train = leave_one_out_kernel_predictions(
        rows, table, seed=seed, examples_per_fit=EXAMPLES_PER_FIT, max_fitted=n
    )[n:].argmax(1)
    by_test = leave_one_out_kernel_predictions(
        rows[n:], table[n:], seed=seed, examples_per_fit=EXAMPLES_PER_FIT
    ).argmax(1)
    if found := _renumbered_classes(by_train, y_test, often):
        return found
    best: tuple[float, int, int, float, float, int] | None = None
    for a in often:
        of = y_test == a
        for b in range(classes):
            q, r = (float((votes[of] == b).double().mean()) for votes in (by_train, by_test))  # (1)
            pooled = (q + r) / 2
            z = (q - r) / sqrt(max(2 * pooled * (1 - pooled), 1 / int(of.sum())) / int(of.sum()))
            if a != b and q - r > MIN_DIFFERENCE and z > MIN_Z and (best is None or q - r > best[0]):
                best = (q - r, a, b, q, r, int(of.sum()))
    if best is None:
        return ()
    _, a, b, q, r, examples = best
    values = {"true": a, "given": b, "by_train": q, "by_test": r, "examples": examples}
    evidence = (Value("called the other class by train", q), Value("called the other class by test", r))
    return (Finding(kinds.RELABELED_CLASS, "labels", values, evidence, 3e-5),)


def _renumbered_classes(by_train: Tensor, y_test: Tensor, often: list[int]) -> tuple[Finding, ...]:
    """Reports a problem if classes have different numbers in train and test, such as 0 and 1 exchanged."""
    called = {}
    for a in often:
        of = by_train[y_test == a]
        called[a] = int(of.mode().values)
        if float((of == called[a]).double().mean()) < MIN_RENUMBERED_SHARE:  # (2)
            return ()
    moved = {a: b for a, b in called.items() if a != b}
    if len(moved) < 2 or len(set(called.values())) < len(called):
        return ()
    pairs = ", ".join(f"{b} in train is {a} in test" for a, b in list(moved.items())[:MAX_NAMED_PAIRS])
    values = {"count": len(moved), "classes": len(often), "pairs": pairs}
    return (Finding(kinds.CLASSES_RENUMBERED, "labels", values, (), 1e-6),)
