"""Two networks on the same examples: exact probabilities by hand, and the rate of false differences."""

from dataclasses import replace
from math import comb

import torch

from gnomon.core.results import Interval, Value
from gnomon.examination import Examination
from gnomon.examination.compare import Comparison
from gnomon.examination.paired import paired_p_value
from gnomon.examination.step import StepProducts
from gnomon.examination.steps.margins import Decisions
from gnomon.report import PageContent, Section


def wrong(*numbers, n=1000):
    errors = torch.zeros(n, dtype=torch.float64)
    errors[list(numbers)] = 1.0
    return errors


def examined(name, errors, index=None):
    accuracy = 1 - float(errors.mean())
    value = Value("accuracy", accuracy, Interval(accuracy - 0.02, accuracy + 0.02), id="accuracy")
    section = Section("margins", "How good", "How well?", PageContent("", (), (value,)))
    index = torch.arange(len(errors)) if index is None else index
    return Examination(name, (section,), {}, products=StepProducts({Decisions: Decisions(index, errors)}))


def test_the_p_value_is_that_of_a_fair_coin_on_the_examples_that_differ():
    one, two = wrong(*range(12)), wrong(12, 13)
    by_hand = 2 * sum(comb(14, k) for k in range(3)) / 2**14
    assert abs(paired_p_value(one, two) - by_hand) < 1e-12
    both = wrong(*range(12), *range(500, 900)), wrong(12, 13, *range(500, 900))  # what both get wrong says nothing
    assert abs(paired_p_value(*both) - by_hand) < 1e-12


def test_of_equal_networks_at_most_one_in_twenty_is_called_better():
    draws = torch.Generator().manual_seed(0)
    errors = (torch.rand(2, 400, 300, generator=draws) < 0.1).double()
    found = sum(paired_p_value(a, b) <= 0.05 for a, b in zip(*errors, strict=True))
    assert found <= 30  # 20 expected of 400 at most: 30 is above by chance in 1 of 50
    squares = torch.randn(2, 400, 300, generator=draws, dtype=torch.float64).square()
    assert 6 <= sum(paired_p_value(a, b) <= 0.05 for a, b in zip(*squares, strict=True)) <= 36


def test_a_difference_that_intervals_hide_is_seen_on_the_same_examples():
    one, two = examined("one", wrong(*range(40))), examined("two", wrong(*range(30, 50)))
    verdict = Comparison(one, two).verdict
    assert verdict.startswith("two scores better on the same 1,000 examples (p = 0.0")
    other = examined("two", wrong(*range(30, 50)), index=torch.arange(1, 1001))
    assert "do not differ significantly on these examples" in Comparison(one, other).verdict
    assert (
        "do not differ significantly on the same 1,000"
        in Comparison(one, examined("two", wrong(*range(4, 42)))).verdict
    )


def test_squared_errors_are_compared_in_pairs():
    hard = torch.linspace(0, 100, 200, dtype=torch.float64)  # examples differ by far more than the networks do
    better = hard - 0.1 + 0.01 * torch.randn(200, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    assert paired_p_value(hard, better) < 1e-6 and paired_p_value(hard, hard) == 1.0
    score = Value("explained variance", 0.9, id="explained-variance")
    pair = [replace(examined(name, e), sections=(Section("margins", "", "", PageContent("", (), (v,))),))
            for name, e, v in (("one", hard, score), ("two", better, replace(score, value=0.91)))]  # fmt: skip
    assert Comparison(*pair).verdict.startswith("two scores better on the same 200 examples")
