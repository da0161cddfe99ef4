"""Errors of shown examples, counted mistakes and positions by hand, and the design fixes on small networks."""

from dataclasses import replace
from math import exp, log, sqrt

import pytest
import torch
from torch import nn

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.adapter.reading import OutputMeaning
from gnomon.examination.fixes import design
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.positions import predictions_at_positions
from gnomon.examination.steps import examples as step
from gnomon.examination.subject import Examples, build_subject
from gnomon.examination.worst_positions import rank_worst, show_worst_positions
from gnomon.training import SGD
from gnomon.training.plan import BatchPlan

CLASSES = build_subject(nn.Linear(2, 3), (torch.zeros(9, 2), torch.arange(9) % 3), None, seed=0)
NUMBERS = build_subject(nn.Linear(2, 2), (torch.zeros(9, 2), torch.randn(9, 2)), None, seed=0)


def test_the_error_of_a_class_is_one_minus_its_probability():
    f = torch.tensor([[log(6.0), log(3.0), log(1.0)], [0.0, 0.0, log(2.0)]]).double()
    error, answers, notes = step._judge(f, torch.tensor([1, 2]), CLASSES)
    assert error.tolist() == pytest.approx([0.7, 0.5])
    assert answers == [CLASSES.class_name(0), CLASSES.class_name(2)] and notes == ["60% sure", "50% sure"]


def test_the_error_of_numbers_is_their_root_mean_square():
    f, y = torch.tensor([[4.0, 5.0], [0.0, 1.0]]).double(), torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    error, answers, notes = step._judge(f, y, NUMBERS)
    assert error.tolist() == pytest.approx([sqrt((9 + 16) / 2), 0.0])
    assert answers == ["4, 5", "0, 1"] and notes == ["off by 3.54", "off by 0"]
    assert step._words(torch.tensor([1.0, 2.0, 3.0])) == "1, 2, 3"
    assert step._words(torch.tensor([1.0, 2.0, 3.0, 4.0])) == "1, 2, 3, ..."
    assert "is 3.5; half of the errors are below 2." in step._largest(torch.tensor([1.0, 2.0, 3.5]), "test")


def test_mistakes_are_counted_by_pair_the_most_frequent_first():
    y = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    answers = torch.tensor([1, 1, 0, 0, 1, 2, 1])
    words, (plot,) = step._mistakes(nn.functional.one_hot(answers, 3).double(), y, "test", CLASSES)
    name = [CLASSES.class_name(c) for c in range(3)]
    assert words == (
        f"4 of 7 test examples are wrong; most often {name[0]} is taken for {name[1]}, 2 times. "
        "The other examples shown are right but have the lowest confidence."
    )
    assert list(plot.marks[0].values) == [2, 1, 1] and plot.marks[0].labels[0] == f"{name[0]} taken for {name[1]}"
    words, plots = step._mistakes(nn.functional.one_hot(y, 3).double(), y, "test", CLASSES)
    assert words.startswith("All 7 test examples tried are classified correctly") and plots == ()
    tied = torch.tensor([1, 1, 0, 0, 0, 2, 2])
    words, _ = step._mistakes(nn.functional.one_hot(tied, 3).double(), y, "test", CLASSES)
    assert words.startswith("4 of 7 test examples are wrong; no pair of classes is confused more than 2 times.")
    once = torch.tensor([1, 0, 0, 1, 1, 2, 2])
    words, plots = step._mistakes(nn.functional.one_hot(once, 3).double(), y, "test", CLASSES)
    assert words.startswith("1 of 7 test examples is wrong. ") and plots == ()


TOKENS = torch.tensor([[0, 1], [2, 3], [1, -100], [0, 0], [3, 3], [2, 1]])


def test_losses_at_positions_by_hand():
    """Logit log 5 for one of four tokens, 0 for the others: it has probability 5 / 8, the others 1 / 8."""
    loss = PositionCrossEntropy(classes=4, positions=2, ignored=-100)
    favored = torch.tensor([[0, 1], [2, 0], [0, 0], [0, 1], [3, 3], [2, 1]])
    f = (nn.functional.one_hot(favored, 4) * log(5.0)).double().reshape(6, 8)
    decided = predictions_at_positions(loss, f, TOKENS)
    right, wrong = log(8 / 5), log(8)
    expected = [right, (right + wrong) / 2, wrong, (right + wrong) / 2, right, right]
    assert decided.error().tolist() == pytest.approx(expected)
    means = [(5 * right + wrong) / 6, (3 * right + 2 * wrong) / 5]
    assert decided.perplexity() == pytest.approx([exp(mean) for mean in means])

    reads = build_subject(nn.Embedding(4, 4), (TOKENS.clamp(min=0), TOKENS.clamp(min=0)), None, seed=0)
    examples = Examples(TOKENS.clamp(min=0), TOKENS)
    _, _, shown, answer, _ = show_worst_positions(reads, loss, f, examples, 10 + torch.arange(6), "test")
    assert [one.number for one in shown[:3]] == [12, 11, 13]
    assert answer.startswith("72.7% of the ") and "cross-entropy 2.08" in answer and "less than 0.47" in answer
    assert shown[0].note == "0% right, loss 2.08; after '1': '0' instead of '1'"
    assert shown[1].note == "50% right, loss 1.27; after '2 3': '0' instead of '3'"
    floats = replace(examples, x=torch.rand(6, 3, 2))  # inputs that are not tokens have positions
    shown = show_worst_positions(reads, loss, f, floats, 10 + torch.arange(6), "test")[2]
    assert shown[1].note.endswith("; at position 2: '0' instead of '3'")


def test_wrong_answers_are_shown_before_right_ones_with_a_larger_loss():
    error = torch.tensor([0.2, 0.7, 0.6, 0.9, 0.1])
    assert rank_worst(error, torch.tensor([False, False, True, True, True]), 4).tolist() == [3, 2, 4, 1]
    loss = PositionCrossEntropy(classes=2, positions=2)  # label 0 at both positions of two examples
    f = torch.tensor([[0.0, 0.1, 4.0, 0.0], [0.01, 0.0, 0.01, 0.0]])
    reads = build_subject(nn.Embedding(2, 2), (torch.zeros(2, 2).long(),) * 2, None, seed=0)
    examples = Examples(torch.zeros(2, 2).long(), torch.zeros(2, 2).long())
    error, worst, shown, _, wrong = show_worst_positions(reads, loss, f, examples, torch.arange(2), "test")
    assert float(error[1]) > float(error[0]) and worst.tolist() == [0, 1] and wrong == 1
    assert [one.note.partition(" ")[0] for one in shown] == ["50%", "100%"]


def test_shown_examples_have_their_training_loss():
    """Probabilities 1 / 4 and 3 / 4 of two classes: losses log 4 and log 4 / 3."""
    x = torch.eye(2)
    net = nn.Linear(2, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0, 0.0], [log(3), log(3)]]))
        net.bias.zero_()
    subject = build_subject(net, (x, torch.tensor([0, 1])), None, seed=0)
    f = net(x).detach().double()
    assert step._losses(f, torch.tensor([0, 1]), subject) == [", loss 1.39", ", loss 0.288"]


def test_a_wrong_word_is_shown_after_the_words_before_it():
    x = torch.tensor([[0, 1, 2, 1]] * 3)
    net = build_subject(nn.Embedding(4, 4), (x, x), None, seed=0, vocabulary=("a", "cat", "sat", "."))
    next_word = replace(net, task=replace(net.task, reading=OutputMeaning("language model", 4, 4)))
    loss = PositionCrossEntropy(classes=4, positions=4, ignored=-100)
    y = torch.tensor([[-100, -100, -100, 3], [-100, 2, -100, -100], [-100, -100, -100, -100]])
    _, _, shown, _, wrong = show_worst_positions(
        next_word, loss, torch.zeros(3, 16), Examples(x, y), torch.arange(3), "test"
    )
    assert wrong is None
    notes = {one.number: one.note.partition("; ")[2] for one in shown}
    assert (
        notes[0] == "after '... cat sat cat': 'a' instead of '.'" and notes[1] == "after 'a cat': 'a' instead of 'sat'"
    )
    assert notes[2] == ""


def trial_of(module):
    return TrialRun(module, CLASSES.train, CLASSES.train, CLASSES.loss, SGD(0.1), BatchPlan(4), 10)


def test_added_biases_are_drawn_within_one_over_the_root_of_the_fan_in():
    net = nn.Sequential(nn.Conv2d(2, 400, 3, bias=False), nn.Linear(7, 5), nn.Linear(5, 300, bias=False))
    kept = net[1].bias
    (change,) = design.add_biases(trial_of(net), None, CLASSES)
    made = change.trial.module
    for layer, fan_in in ((made[0], 18), (made[2], 5)):
        bound = fan_in**-0.5
        bias = layer.bias.detach()
        assert len(bias) in (300, 400) and bool((bias.abs() <= bound).all())
        assert float(bias.std()) == pytest.approx(bound / sqrt(3), rel=0.1)
        assert float(bias.mean()) == pytest.approx(0.0, abs=0.1 * bound)
    assert torch.equal(made[1].bias, kept) and net[0].bias is None


def test_activations_are_added_after_every_layer_but_the_last():
    net = nn.Sequential(nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 4)), nn.Linear(4, 3))
    (change,) = design.add_activations(trial_of(net), None, CLASSES)
    x = torch.randn(5, 2)
    assert torch.equal(change.trial.module(x), net[2](net[1](net[0](x).relu()).relu()))
    assert change.words == "ReLU after 2 layers"
    assert design.add_activations(trial_of(nn.Sequential(nn.Linear(2, 2))), None, CLASSES) == ()
    (one,) = design.add_activations(trial_of(net[:2]), None, CLASSES)
    assert one.words == "ReLU after 1 layer"


def test_the_last_normalization_is_removed():
    net = nn.Sequential(nn.LayerNorm(2), nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4)), nn.Linear(4, 3))
    (change,) = design.remove_normalization(trial_of(net), None, CLASSES)
    made = change.trial.module
    assert isinstance(made[1][1], nn.Identity) and isinstance(made[0], nn.LayerNorm)
    assert change.words == "the last BatchNorm1d removed"
    assert design.remove_normalization(trial_of(nn.Linear(2, 3)), None, CLASSES) == ()


def test_the_twelve_examples_with_the_largest_loss_are_shown():
    x = torch.arange(28).reshape(14, 2) % 4
    reads = build_subject(nn.Embedding(4, 4), (x, x), None, seed=0)
    loss = PositionCrossEntropy(classes=4, positions=2)
    f = torch.zeros(14, 2, 4)
    for i in range(14):  # the higher the number, the surer of the right answer
        f[i, [0, 1], x[i]] = float(i)
    examples = Examples(x, x)
    error, _, shown, _, _ = show_worst_positions(reads, loss, f.reshape(14, 8), examples, torch.arange(14), "test")
    assert [example.number for example in shown] == list(range(12)) and bool((error.diff() < 0).all())
