"""Parts of test errors: bias and variance, excess risk, random labelings, hardness of labels."""

from math import comb

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.bounds.bias_variance import bias_variance, split_error
from gnomon.bounds.excess_risk import excess_risk_report
from gnomon.bounds.hardness import dataset_hardness
from gnomon.bounds.shattering import empirical_shattering
from gnomon.core.errors import InputError


class Constant(nn.Module):
    """Always answers with one number, whatever is trained."""

    def __init__(self, value):
        super().__init__()
        self.value, self.unused = float(value), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return torch.full((len(x), 1), self.value) + 0 * self.unused * x[:, :1]


def test_bias_and_variance_of_constants_are_those_of_their_numbers():
    values = [1.0, 4.0, 7.0]
    x, y = torch.zeros(5, 2), torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])
    found = bias_variance(lambda seed: Constant(values[seed]), (x, y), (x, y), draws=3, steps=1)
    assert found.variance == pytest.approx(np.var(values))
    assert found.bias == pytest.approx(np.mean((4.0 - y.numpy()) ** 2))
    assert found.error == pytest.approx(np.mean([(v - y.numpy()) ** 2 for v in values]))


def test_bias_and_variance_add_up_to_the_error_and_data_reduce_the_variance():
    g = torch.Generator().manual_seed(0)
    made, targets = torch.randn(6, 7, 2, generator=g), torch.randn(7, 2, generator=g)
    found = split_error(made, targets)
    assert found.error == pytest.approx(float((made - targets).square().mean()), rel=1e-5)
    x = torch.randn(200, 3, generator=g)
    y = x[:, :1] + 0.5 * torch.randn(200, 1, generator=g)
    parts = [bias_variance(lambda seed: nn.Linear(3, 1), (x[:n], y[:n]), (x, y), draws=6, lr=0.1) for n in (8, 200)]
    assert parts[0].variance > 5 * parts[1].variance and parts[1].bias == pytest.approx(0.25, rel=0.3)
    assert "variance" in parts[0].verdict and parts[0].plots()


def test_bias_and_variance_need_two_draws_and_numbers():
    x = torch.zeros(4, 1)
    with pytest.raises(InputError, match="draws is 1"):
        bias_variance(lambda seed: nn.Linear(1, 1), (x, x), (x, x), draws=1)
    with pytest.raises(InputError, match="int64"):
        bias_variance(lambda seed: nn.Linear(1, 1), (x, torch.zeros(4).long()), (x, x))


class Chosen(nn.Module):
    """Answers with the class that a column of the input holds."""

    def __init__(self, column):
        super().__init__()
        self.column = column

    def forward(self, x):
        return nn.functional.one_hot(x[:, self.column].long(), 2).float()


def test_excess_risk_of_known_answers():
    y = torch.tensor([0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    wrong = {"train": (1, 3), "test": (4, 2)}  # errors of the two candidates, out of ten

    def inputs(errors):
        columns = [torch.where(torch.arange(10) < e, 1 - y, y) for e in errors]
        return torch.stack(columns, 1).float()

    train, test = ((inputs(wrong[name]), y) for name in ("train", "test"))
    found = excess_risk_report([Chosen(0), Chosen(1)], train, test, chosen=0)
    assert (found.excess, found.estimation, found.optimization) == pytest.approx((0.2, 2 * 0.3, 0.0))
    other = excess_risk_report([Chosen(0), Chosen(1)], train, test, chosen=1)
    assert (other.excess, other.optimization) == pytest.approx((0.0, 0.2)) and other.excess <= other.bound
    with pytest.raises(InputError, match="there are 2 models"):
        excess_risk_report([Chosen(0), Chosen(1)], train, test, chosen=2)


@pytest.mark.full
def test_lines_fit_all_labelings_of_three_points_and_few_of_twelve():
    x = torch.randn(12, 2, generator=torch.Generator().manual_seed(1))
    found = empirical_shattering(lambda seed: nn.Linear(2, 2), x, sizes=[3, 12], labelings=12, steps=300, lr=0.3)
    cover = 2 * sum(comb(11, i) for i in range(3)) / 2**12  # share of labelings that lines realize: 3 %
    assert found.shares[0] == 1.0 and found.capacity == 3 and found.shares[1] <= cover + 3 * (cover / 12) ** 0.5
    with pytest.raises(InputError, match="there are 12 examples"):
        empirical_shattering(lambda seed: nn.Linear(2, 2), x, sizes=[13])


def test_random_labels_are_harder_than_true_ones():
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(2))
    y = (x[:, 0] + x[:, 1] > 0).long()

    def net(seed):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))

    found = dataset_hardness(net, (x, y), steps=150, lr=0.02)
    assert found.margins[0] > 3 * found.margins[1] and found.advantage > 3
    noise = torch.randint(2, (60,), generator=torch.Generator().manual_seed(3))
    assert dataset_hardness(net, (x, noise), steps=150, lr=0.02).advantage < 2


class TwoInputs(nn.Module):
    """A model of two inputs that returns a tuple of logits and hidden units."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 8), nn.Linear(2, 8), nn.Linear(8, 3)

    def forward(self, x, z):
        h = (self.first(x) + self.second(z)).relu()
        return self.last(h), h


class LanguageModel(nn.Module):
    """A model of token ids and a mask that returns a dict with its logits."""

    def __init__(self):
        super().__init__()
        self.embed, self.last = nn.Embedding(20, 8), nn.Linear(8, 3)

    def forward(self, input_ids, attention_mask=None):
        mask = attention_mask[..., None].float()
        return {"logits": self.last((self.embed(input_ids) * mask).sum(1) / mask.sum(1))}


@pytest.mark.parametrize("kind", [TwoInputs, LanguageModel])
def test_models_with_several_inputs_and_outputs(kind):
    torch.manual_seed(0)
    ids = {"input_ids": torch.randint(20, (12, 6)), "attention_mask": torch.ones(12, 6, dtype=torch.long)}
    x = (torch.randn(12, 4), torch.randn(12, 2)) if kind is TwoInputs else ids
    y = torch.arange(12) % 3
    targets = torch.nn.functional.one_hot(y).float()
    assert bias_variance(lambda seed: kind(), (x, targets), (x, targets), draws=2, steps=3).error > 0
    data = x if isinstance(x, dict) else (x, y)
    found = empirical_shattering(lambda seed: kind(), data, sizes=(2, 4), labelings=2, steps=40, lr=0.1)
    assert found.sizes == (2, 4) and found.shares[0] > 0
    assert excess_risk_report([kind(), kind()], (x, y), (x, y)).verdict
    assert len(dataset_hardness(lambda seed: kind(), (x, y), steps=3).margins) == 3
