"""Plots predictions: confusion matrix, scores per class, ROC and precision-recall curves, regression errors.

    recall of c = right answers c / labels c,    precision of c = right answers c / answers c             (1)
    F1 = 2 precision recall / (precision + recall)                                                      (2)
    area under the ROC curve = P(score of a positive > score of a negative) + P(equal) / 2              (3)

Reference: [fawcett2006introduction] for (1) to (3).

>>> import torch
>>> found = confusion_counts(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]), 2)
>>> found.tolist()                                                                    # rows: labels, columns: answers
[[1, 1], [0, 1]]
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from gnomon.core.results import Axis, Image, Line, Plot, Reference, Scatter
from gnomon.report.table import PageTable

__all__ = [
    "area_under_roc", "class_table", "confusion_counts", "confusion_plot", "prediction_plots", "two_class_plots",
]  # fmt: skip

MAX_SHOWN_CLASSES = 20
"""Maximum number of classes in a confusion matrix; of more, those with the most mistakes are shown."""
MAX_TABLE_CLASSES = 40
"""Maximum number of classes in the table of scores."""
MAX_POINTS = 600
"""Maximum number of points in a scatter plot."""
MAX_CURVE_POINTS = 200
"""Maximum number of points of a ROC or precision-recall curve."""


def confusion_counts(answers: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Returns the confusion matrix: how often each label (row) got each prediction (column).

    Cost: one pass over the labels.

    >>> confusion_counts(torch.tensor([1]), torch.tensor([0]), 2).tolist()
    [[0, 1], [0, 0]]
    """
    flat = labels.long().cpu() * classes + answers.long().cpu()
    return torch.bincount(flat, minlength=classes * classes).reshape(classes, classes)


def confusion_plot(counts: Tensor, names: Sequence[str], unit: str) -> tuple[Plot, ...]:
    """Plots a confusion matrix; ``unit`` names what is counted, such as "test examples".

    >>> confusion_plot(torch.tensor([[3, 1], [0, 4]]), ("cat", "dog"), "test examples")[0].caption
    '1 of 8 test examples is off the diagonal, so it is wrong. The darker a cell, the larger its share of the row.'
    """
    total, wrong = int(counts.sum()), int(counts.sum() - counts.diagonal().sum())
    if not total or len(counts) < 2:
        return ()
    mistakes = counts - torch.diag(counts.diagonal())
    shown, kept = _classes_to_show(mistakes)
    words = [names[i] for i in shown]
    marks = (Image(unit, counts[shown][:, shown].double(), words, words, written=True),)
    caption = f"All {total:,} {unit} are on the diagonal: every answer is right."
    if wrong:
        are = "is off the diagonal, so it is wrong" if wrong == 1 else "are off the diagonal, so they are wrong"
        caption = f"{wrong:,} of {total:,} {unit} {are}{_most_frequent(counts, mistakes, names)}."
    caption += " The darker a cell, the larger its share of the row."
    caption += "" if kept else f" Shown: the {len(shown)} of {len(counts)} classes with the most mistakes."
    axes = Axis("answer of the network"), Axis("label")
    return (Plot("Confusion matrix", marks, *axes, caption, id="confusion"),)


def _most_frequent(counts: Tensor, mistakes: Tensor, names: Sequence[str]) -> str:
    """Describes in words the class that is always predicted, or the most frequent mistake if there is only one."""
    answered = (counts.sum(0) > 0).nonzero().flatten().tolist()
    if len(answered) == 1:
        return f": the network always answers {names[answered[0]]}"
    times = int(mistakes.max())
    if int((mistakes == times).sum()) > 1 or int(mistakes.sum()) == 1:
        return ""
    label, answer = divmod(int(mistakes.argmax()), len(counts))
    return f"; most often {names[label]} is taken for {names[answer]} ({times:,} times)"


def _classes_to_show(mistakes: Tensor) -> tuple[list[int], bool]:
    """Chooses the classes that a confusion matrix shows (those with most mistakes), and says whether these are all."""
    if len(mistakes) <= MAX_SHOWN_CLASSES:
        return list(range(len(mistakes))), True
    each = mistakes.sum(0) + mistakes.sum(1)
    return sorted(each.topk(MAX_SHOWN_CLASSES).indices.tolist()), False


def class_table(counts: Tensor, names: Sequence[str]) -> tuple[PageTable, ...]:
    """Creates a table with recall, precision and F1 score of each class; the class with the lowest F1 comes first.

    See equations (1) and (2) of the module docstring.

    >>> class_table(torch.tensor([[3, 1], [0, 4]]), ("cat", "dog"))[0].rows[0]
    ('cat', 4, 0.75, 1.0, 0.8571428571428571)
    """
    rows = []
    for i, name in enumerate(names):
        labels, answers, right = int(counts[i].sum()), int(counts[:, i].sum()), int(counts[i, i])
        if not labels and not answers:
            continue
        recall = right / labels if labels else None  # (1)
        precision = right / answers if answers else None  # (1)
        f1 = 2 * right / (labels + answers)  # F1 score: equal to 2 precision recall / (precision + recall)
        rows.append((name, labels, recall, precision, f1))
    if len(rows) < 2:
        return ()
    rows.sort(key=lambda row: row[4])
    shares = ("recall", "precision", "F1")
    left = f" The other {len(rows) - MAX_TABLE_CLASSES} classes score higher." if len(rows) > MAX_TABLE_CLASSES else ""
    caption = (
        "Recall: share of the examples of a class that the network recognizes. Precision: share of the answers with "
        "this class that are right (–: the network never gives this answer). F1: the harmonic mean of recall and "
        f"precision; the lowest F1 comes first.{left}"
    )
    columns = ("class", "examples", *shares)
    return (PageTable("Scores of each class", columns, rows[:MAX_TABLE_CLASSES], shares, (), shares, caption),)


def area_under_roc(scores: Tensor, positive: Tensor) -> float:
    """Returns the area under the ROC curve (AUC), computed from the ranks of the scores.

    See equation (3) of the module docstring.
    Cost: a sort.

    >>> area_under_roc(torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([False, False, True, True]))
    0.75
    """
    _, place, count = scores.unique(return_inverse=True, return_counts=True)
    ranks = (count.cumsum(0) - (count - 1) / 2)[place]  # Equal scores get the mean of their ranks.
    p, n = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - p * (p + 1) / 2) / (p * n))  # (3)


def two_class_plots(scores: Tensor, positive: Tensor, name: str) -> tuple[Plot, ...]:
    """Plots the ROC curve and the precision-recall curve of a binary classifier; empty if only one class occurs.

    >>> plots = two_class_plots(torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([False, False, True, True]), "ill")
    >>> plots[0].caption.partition(". ")[2]
    'The area under the curve is 0.750 (1 is best, 0.5 is chance).'
    """
    p, n = int(positive.sum()), int((~positive).sum())
    if not p or not n:
        return ()
    order = scores.argsort(descending=True)
    # Examples with equal scores become one point of the curve, because no threshold separates them.
    ends = torch.cat([scores[order].diff() != 0, torch.ones(1, dtype=torch.bool)])
    hits, alarms = positive[order].double().cumsum(0)[ends], (~positive[order]).double().cumsum(0)[ends]
    kept = torch.linspace(0, len(hits) - 1, min(len(hits), MAX_CURVE_POINTS)).round().long()
    found, false = hits[kept] / p, alarms[kept] / n
    precision = hits[kept] / (hits[kept] + alarms[kept])
    start = torch.zeros(1, dtype=torch.float64)
    chance = Line("chance", (0, 1), (0, 1), "dotted", 4)
    curve = Line("network", torch.cat([start, false]), torch.cat([start, found]), color=0)
    area = area_under_roc(scores, positive)
    head = f"Share of {name} that is found, over the share of other examples wrongly called {name}, at every threshold"
    words = f"{head}. The area under the curve is {area:.3f} (1 is best, 0.5 is chance)."
    axes = Axis("false-alarm rate", limits=(0, 1.01)), Axis("detection rate (recall)", limits=(0, 1.01))
    roc = Plot("ROC curve", (curve, chance), *axes, words, id="roc")
    marks = (Line("network", found, precision, color=0), Reference("chance", p / (p + n)))
    words = f"Precision: the share of the examples called {name} that are {name}. Guessing gives {p / (p + n):.1%}."
    axes = Axis("detection rate (recall)", limits=(0, 1.01)), Axis("precision", limits=(0, 1.02))
    return roc, Plot("Precision and recall", marks, *axes, words, id="precision-recall")


def prediction_plots(f: Tensor, y: Tensor, which: str) -> tuple[Plot, ...]:
    """Plots predicted over true values, and errors over predictions; empty if all targets are equal.

    >>> [plot.id for plot in prediction_plots(torch.rand(9, 1), torch.rand(9, 1), "test")]
    ['predicted-true', 'residuals']
    """
    several = f.shape[1] > 1
    predicted, true = f.double().flatten().cpu(), y.double().flatten().cpu()
    if len(true) < 2 or float(true.max()) <= float(true.min()):
        return ()
    chosen = torch.linspace(0, len(true) - 1, min(len(true), MAX_POINTS)).round().long()
    points = "outputs of the network" if several else f"{which} examples"
    low, high = float(torch.stack([true, predicted]).min()), float(torch.stack([true, predicted]).max())
    margin = 0.03 * (high - low)
    ends = (low - margin, high + margin)
    exact = Line("exact", ends, ends, "dotted", 4)
    count = f"{len(chosen):,} of {len(true):,} {points}" if len(chosen) < len(true) else f"All {len(true):,} {points}"
    words = f"{count}. On the dotted line the prediction is exact; above it, it is too large."
    axes = Axis("true value (units of the targets)", limits=ends), Axis("predicted value", limits=ends)
    scatter = Plot("Predicted and true values", (Scatter(points, true[chosen], predicted[chosen]), exact), *axes, words,
                   id="predicted-true")  # fmt: skip
    error = predicted - true
    bias, spread = float(error.mean()), float(error.std(correction=0))
    words = (
        f"Mean error {bias:.3g}, standard deviation {spread:.3g}. A trend or a funnel shape means that the model "
        "misses a dependence on the prediction."
    )
    marks = (Scatter(points, predicted[chosen], error[chosen]), Reference("no error", 0.0))
    axes = Axis("predicted value (units of the targets)"), Axis("predicted minus true value")
    return scatter, Plot("Errors (residuals)", marks, *axes, words, id="residuals")
