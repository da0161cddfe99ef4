"""Confusion, class scores and curves against scikit-learn; importance and positions against loops."""

from math import exp, log

import pytest
import torch
from sklearn import metrics
from torch import nn

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.core.machine.clock import FakeClock
from gnomon.core.results.drawing import draw
from gnomon.examination import STEPS, decision_plots, examine
from gnomon.examination.decision_plots import (
    area_under_roc,
    class_table,
    confusion_counts,
    confusion_plot,
    prediction_plots,
    two_class_plots,
)
from gnomon.examination.positions import predictions_at_positions
from gnomon.examination.steps.importance import ColumnImportance
from gnomon.examination.steps.match import TheoryMatch
from gnomon.report.plot_selection import shows_something


def drawn(n=200, classes=4, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return (torch.randint(0, classes, (n,), generator=draw) for _ in range(2))


def test_confusion_and_class_scores_are_those_of_scikit_learn():
    answers, labels = drawn()
    counts = confusion_counts(answers, labels, 4)
    assert counts.tolist() == metrics.confusion_matrix(labels, answers).tolist()
    precision, recall, f1, support = metrics.precision_recall_fscore_support(labels, answers)
    rows = {row[0]: row[1:] for row in class_table(counts, "abcd")[0].rows}
    for i, name in enumerate("abcd"):
        assert rows[name] == pytest.approx((support[i], recall[i], precision[i], f1[i]))
    assert [row[4] for row in class_table(counts, "abcd")[0].rows] == sorted(f1)


def test_many_classes_show_those_with_mistakes():
    counts = torch.diag(torch.full((30,), 5))
    counts[3, 17] = 9
    plot = confusion_plot(counts, [f"class {i}" for i in range(30)], "test examples")[0]
    assert len(plot.marks[0].rows) == 20 and {"class 3", "class 17"} <= set(plot.marks[0].rows)
    assert "class 3 is taken for class 17 (9 times)" in plot.caption and "20 of 30 classes" in plot.caption


@pytest.mark.parametrize("ties", [False, True])
def test_curves_of_two_classes_are_those_of_scikit_learn(ties):
    draw = torch.Generator().manual_seed(1)
    positive = torch.rand(150, generator=draw) < 0.3
    scores = torch.rand(150, generator=draw, dtype=torch.float64) + 0.4 * positive
    scores = (4 * scores).round() / 4 if ties else scores
    assert area_under_roc(scores, positive) == pytest.approx(metrics.roc_auc_score(positive, scores))
    roc, precision = two_class_plots(scores, positive, "ill")
    x, y = torch.tensor(roc.marks[0].x), torch.tensor(roc.marks[0].y)
    assert float(torch.trapezoid(y, x)) == pytest.approx(metrics.roc_auc_score(positive, scores), abs=2e-3)
    curve = precision.marks[0]
    steps = sum(p * (r - before) for p, r, before in zip(curve.y, curve.x, (0.0, *curve.x), strict=False))
    assert steps == pytest.approx(metrics.average_precision_score(positive, scores), abs=2e-3)
    assert precision.marks[1].at == pytest.approx(float(positive.double().mean()))
    assert two_class_plots(scores, torch.ones(150, dtype=torch.bool), "ill") == ()


def test_errors_are_predicted_minus_true():
    scatter, residuals = prediction_plots(torch.tensor([[3.0], [1.0]]), torch.tensor([[1.0], [2.0]]), "test")
    assert scatter.marks[0].x == (1.0, 2.0) and scatter.marks[0].y == (3.0, 1.0)
    assert residuals.marks[0].y == (2.0, -1.0) and "Mean error 0.5" in residuals.caption
    assert prediction_plots(torch.rand(4, 1), torch.ones(4, 1), "test") == ()


def test_perplexity_by_position_ignores_what_is_ignored():
    logits = torch.tensor([[[0.0, log(3)], [0.0, 0.0]], [[0.0, 0.0], [0.0, log(7)]]])
    found = predictions_at_positions(PositionCrossEntropy(2, 2), logits.flatten(1), torch.tensor([[1, -100], [0, 1]]))
    assert found.perplexity() == pytest.approx([exp((log(4 / 3) + log(2)) / 2), 8 / 7])
    assert found.error().tolist() == pytest.approx([log(4 / 3), (log(2) + log(8 / 7)) / 2])


def short(net, x, y, *keys, **options):
    steps = [step for step in STEPS if step.key in ("architecture", *keys)]
    return examine(
        net,
        (x[:100], y[:100]),
        (x[100:], y[100:]),
        budget=20,
        examination_steps=steps,
        clock=FakeClock(0.01),
        **options,
    )


def test_theory_is_exact_for_a_linear_model_and_measures_the_same_optimizer():
    """A linear model has a constant kernel: prediction and measurement differ by rounding only."""
    x = torch.randn(140, 4, generator=torch.Generator().manual_seed(0))
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]) + x[:, :1] ** 2
    result = short(lambda: nn.Linear(4, 1), x, y, "kernel", "stability", "match")
    found = result.products[TheoryMatch]
    assert found.gap < 1e-4 and float(found.measured.loss[-1]) < 0.7 * float(found.measured.loss[0])
    plot = result.section("match").content.plots[0]
    assert [mark.name for mark in plot.marks] == ["predicted", "measured"]
    assert plot.marks[0].y == pytest.approx(plot.marks[1].y, rel=1e-3)
    own, theirs = (list(places) for places in zip(*found.pairs, strict=True))
    test = found.measured.test_loss[own].tolist(), found.predicted.test_loss[theirs].tolist()
    assert test[0] == pytest.approx(test[1], rel=1e-3)
    assert found.measured.optimizer == found.predicted.optimizer


def test_the_columns_that_decide_are_named():
    x = torch.randn(140, 4, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(4, 1)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0, 2.0, 0.0, 1.0]]))
        net.bias.zero_()
    result = short(net, x, (2 * x[:, 1] + x[:, 3])[:, None], "importance", columns=("a", "b", "c", "d"))
    found = result.products[ColumnImportance]
    assert list(found.importance)[:2] == ["b", "d"] and found.importance["a"] == found.importance["c"] == 0
    # shuffling a column of weight w and unit variance adds 2 w^2 to the squared error; the variance is 5
    assert found.importance["b"] == pytest.approx(2 * 4 / 5, rel=0.35)
    plot = result.section("importance").content.plots[0]
    answer = result.section("importance").answer
    assert plot.marks[0].labels[0] == "b" and "b (shuffling it lowers the explained variance from 100.0% to" in answer
    assert answer.endswith(" Shuffling any single one of 2 other columns does no harm.")


def test_a_flat_or_empty_plot_is_left_out():
    from gnomon.core.results import Bars, Histogram, Image, Line, Plot, Reference, Scatter

    empty = [
        Bars("a", ["x"], [0.0]), Histogram.of("a", [1.0, 1.0, 1.0]), Image("a", [[1.0, 1.0]]), Line("a", [1], [2]),
        Line("exact", (0, 1), (0, 1), "dotted"), Scatter("a", [1, 1], [2, 2]), Reference("a", 0.0),
        Line("a", [1, 2], [float("nan"), 1.0]),
    ]  # fmt: skip
    assert not any(shows_something(Plot("P", (mark,))) for mark in empty)
    full = [
        Bars("a", ["x"], [1.0]),
        Histogram.of("a", [1.0, 2.0, 3.0]),
        Image("a", [[1.0, 2.0]]),
        Line("a", [1, 2], [2, 2]),
    ]
    assert all(shows_something(Plot("P", (mark,))) for mark in full)


def test_the_caption_of_a_confusion_matrix_names_a_mistake_only_if_one_is_most_frequent():
    names = ("a", "b", "c")
    tied = confusion_plot(torch.tensor([[2, 3, 0], [0, 4, 3], [0, 0, 5]]), names, "examples")[0].caption
    first = confusion_plot(torch.tensor([[2, 4, 0], [0, 4, 3], [0, 0, 5]]), names, "examples")[0].caption
    constant = confusion_plot(torch.tensor([[0, 5, 0], [0, 5, 0], [0, 5, 0]]), names, "examples")[0].caption
    colors = " The darker a cell, the larger its share of the row."
    assert tied == f"6 of 17 examples are off the diagonal, so they are wrong.{colors}"
    assert first.endswith(f"; most often a is taken for b (4 times).{colors}")
    assert constant.endswith(f"so they are wrong: the network always answers b.{colors}")


def test_the_color_of_a_confusion_matrix_is_the_share_of_the_row():
    """A rare class that is always wrong is as dark as a frequent one that is always right."""
    from matplotlib.figure import Figure

    ax = draw(confusion_plot(torch.tensor([[90, 10], [2, 0]]), ("often", "rare"), "examples")[0], Figure().subplots())
    (image,) = ax.images
    assert image.get_array().tolist() == [[0.9, 0.1], [1.0, 0.0]] and image.get_clim() == (0.0, 1.0)
    assert [text.get_text() for text in ax.texts] == ["90", "10", "2", ""]
    assert [text.get_color() for text in ax.texts[:3]] == ["#ffffff", "#1b1e24", "#ffffff"]


def test_two_different_targets_are_enough_for_a_plot_of_predictions():
    f = torch.tensor([[0.5], [2.0], [3.0]])
    assert len(prediction_plots(f[:2], torch.tensor([[1.0], [2.0]]), "test")) == 2
    assert prediction_plots(f[:1], torch.tensor([[1.0]]), "test") == ()
    assert prediction_plots(f, torch.ones(3, 1), "test") == ()
    assert len(prediction_plots(f, torch.tensor([[3.0], [2.0], [1.0]]), "test")) == 2


def test_the_plot_of_predictions_has_a_margin_of_three_percent_and_the_spread_of_the_errors():
    f, y = torch.tensor([[3.0], [1.0], [2.0]]), torch.tensor([[1.0], [2.0], [11.0]])
    scatter, residuals = prediction_plots(f, y, "test")
    assert scatter.marks[1].x == pytest.approx((0.7, 11.3)) and scatter.marks[1].y == pytest.approx((0.7, 11.3))
    assert "Mean error -2.67, standard deviation 4.64." in residuals.caption  # errors 2, -1, -9 around -8 / 3


def test_the_twenty_classes_with_most_mistakes_are_shown():
    mistakes = torch.zeros(22, 22).long()
    for i in range(22):
        mistakes[i, (i + 1) % 22] = i + 1  # class 0 is in 1 + 22, class 1 in 2 + 1 of them, class 2 in 3 + 2, ...
    shown, whole = decision_plots._classes_to_show(mistakes)
    assert shown == [0, *range(3, 22)] and whole is False
    assert decision_plots._classes_to_show(mistakes[:20, :20]) == (list(range(20)), True)


def test_the_forty_classes_with_the_lowest_scores_are_listed():
    counts = torch.diag(torch.arange(1, 43)) + torch.ones(42, 42).long()
    (table,) = decision_plots.class_table(counts, [str(i) for i in range(42)])
    assert len(table.rows) == 40 and table.rows[0][0] == "0" and "The other 2 classes score higher." in table.caption
    (table,) = decision_plots.class_table(counts[:40, :40], [str(i) for i in range(40)])
    assert len(table.rows) == 40 and "score higher" not in table.caption
    i = 5  # 7 right of 48 labels and 48 answers
    row = next(row for row in decision_plots.class_table(counts, [str(k) for k in range(42)])[0].rows if row[0] == "5")
    assert row[1:] == (48, pytest.approx(7 / 48), pytest.approx(7 / 48), pytest.approx(14 / 96)) and i == 5


@pytest.mark.parametrize(
    ("table", "words"),
    [([[3, 2], [1, 4]], "; most often a is taken for b (2 times)"), ([[3, 1], [0, 4]], ""), ([[3, 2], [2, 4]], ""),
     ([[0, 5], [0, 4]], ": the network always answers b")],
)  # fmt: skip
def test_a_single_most_frequent_mistake_is_named(table, words):
    counts = torch.tensor(table)
    mistakes = counts.clone().fill_diagonal_(0)
    assert decision_plots._most_frequent(counts, mistakes, ("a", "b")) == words
