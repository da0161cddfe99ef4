"""Networks that guess are told from networks that learned, by numbers that a loop over examples gives as well."""

import math

import pytest
import torch

from gnomon.checks.run.guessing import MIN_EXAMPLES, guessing_findings, regression_guessing_findings


def draw(n=400, classes=3, seed=0):
    return torch.randint(classes, (n,), generator=torch.Generator().manual_seed(seed))


def mixed(y, right, classes=3, sure=0.8, seed=1):
    """Probabilities that decide for the label in about this share of the examples, for another class otherwise."""
    g = torch.Generator().manual_seed(seed)
    hit = torch.rand(len(y), generator=g) < right
    other = (y + torch.randint(1, classes, (len(y),), generator=g)) % classes
    p = torch.full((len(y), classes), (1 - sure) / (classes - 1), dtype=torch.float64)
    return p.scatter(1, torch.where(hit, y, other)[:, None], sure)


def kinds(p, y, *, trained):
    return [finding.kind for finding in guessing_findings(p, y, data_name="test", trained=trained)]


@pytest.mark.parametrize("trained, kind", [(False, "untrained"), (True, "chance-level")])
def test_decisions_without_relation_are_a_guess_and_others_are_not(trained, kind):
    y = draw()
    assert kinds(mixed(y, 1 / 3), y, trained=trained) == [kind]
    assert kinds(mixed(y, 0.9), y, trained=trained) == []
    constant = torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.float64).expand(len(y), 3)
    assert kinds(constant, y, trained=trained) == [kind]


def test_the_numbers_are_those_of_a_loop_over_the_examples():
    y = draw(60)
    p = mixed(y, 0.35)
    answers = [max(range(3), key=lambda c, row=row: row[c]) for row in p.tolist()]
    n, labels = len(y), y.tolist()
    right = sum(a == b for a, b in zip(answers, labels, strict=True)) / n
    chance = sum(answers.count(c) / n * labels.count(c) / n for c in range(3))
    loss = -sum(math.log(row[c]) for row, c in zip(p.tolist(), labels, strict=True)) / n
    entropy = -sum(labels.count(c) / n * math.log(labels.count(c) / n) for c in range(3))
    evidence = guessing_findings(p, y, data_name="test", trained=False)[0].evidence
    assert evidence[0].value == pytest.approx((right - chance) / (1 - chance), rel=1e-12)
    assert evidence[1].value == pytest.approx(1 - loss / entropy, rel=1e-12)


def test_a_rare_event_that_is_ranked_but_never_decided_for_is_no_guess():
    """One in twenty: the network is right on 95 %, as a guess is, and gives the rare class five times its share."""
    y = (torch.arange(400) % 20 == 0).long()
    rare = torch.where(y == 1, 0.25, 0.04).double()
    p = torch.stack([1 - rare, rare], 1)
    assert kinds(p, y, trained=True) == [] and kinds(p, y, trained=False) == []
    flat = torch.stack([torch.full((400,), 0.95), torch.full((400,), 0.05)], 1).double()
    assert kinds(flat, y, trained=True) == ["chance-level"]


def test_a_trained_network_that_is_slightly_right_on_many_examples_has_learned_something():
    y = draw(20000, 2)
    p = mixed(y, 0.53, classes=2)  # eight standard errors from a coin, and far too sure
    assert kinds(p, y, trained=True) == [] and kinds(p, y, trained=False) == ["untrained"]


def test_few_examples_and_a_single_class_say_nothing():
    y = draw(MIN_EXAMPLES - 1)
    assert kinds(mixed(y, 0.0), y, trained=True) == []
    y = draw(MIN_EXAMPLES)
    assert kinds(mixed(y, 0.0), y, trained=True) == ["chance-level"]
    same = torch.zeros(40, dtype=torch.long)
    assert kinds(mixed(same, 0.5), same, trained=True) == []


def test_how_often_a_trained_guess_is_recognized_and_a_network_that_learned_is_accused():
    """A guess is above three standard errors in 0.13 % of cases; of 200 draws, 4 or more miss in 2e-4 of all cases."""
    missed = sum(
        kinds(mixed(draw(200, seed=s), 1 / 3, seed=1000 + s), draw(200, seed=s), trained=True) == [] for s in range(200)
    )
    assert missed < 4
    accused = sum(
        kinds(mixed(draw(200, seed=s), 0.6, seed=s), draw(200, seed=s), trained=True) != [] for s in range(200)
    )
    assert accused == 0  # kappa is 0.4, with a standard error of 0.05


def test_a_regression_guesses_if_it_explains_no_variance():
    told = [regression_guessing_findings(v, 100, data_name="test", trained=False) for v in (-1.0, 0.0, 0.03, 0.04, 0.9)]
    assert [len(found) for found in told] == [1, 1, 1, 0, 0]
    assert "0.0% of the variance of test targets is explained" in told[0][0].message
    assert regression_guessing_findings(-1.0, 5, data_name="test", trained=True) == ()
