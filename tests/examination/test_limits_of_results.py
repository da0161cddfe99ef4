"""Results that count as good, and tables of layers that are cut off: a case on each side of the limit."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.examination import good_results, layer_table


@pytest.mark.parametrize(("linear", "others", "rows"), [(30, 30, 60), (30, 31, 30), (61, 5, 60), (0, 61, 60)])
def test_of_more_than_sixty_layers_those_with_parameters_are_listed(linear, others, rows):
    net = nn.Sequential(*(nn.Linear(1, 1) for _ in range(linear)), *(nn.Tanh() for _ in range(others)))
    (table,) = layer_table.layer_table(net, torch.ones(2, 1), ())
    assert len(table.rows) == rows
    assert [row[2] for row in table.rows] == ([2] * linear + [0] * others)[:rows]


def test_layers_are_timed_in_three_passes_of_which_the_fastest_counts(monkeypatch):
    now, costs = [0.0], iter([5.0, 2.0, 3.0])

    class Slow(nn.Module):
        def forward(self, x):
            now[0] += next(costs)
            return x

    monkeypatch.setattr(layer_table, "perf_counter", lambda: now[0])
    seconds, shapes = layer_table.time_layers(nn.Sequential(Slow()), torch.ones(5, 2))
    assert seconds == {"0": 2.0} and shapes == {"0": "2"} and next(costs, None) is None


@pytest.mark.parametrize(
    ("labels", "accuracy", "good"),
    [
        ([0, 1] * 10, 0.901, True), ([0, 1] * 10, 0.899, False),
        ([0] * 18 + [1] * 2, 0.981, True), ([0] * 18 + [1] * 2, 0.979, False),
        ([-100] * 30 + [0, 1] * 10, 0.901, True), ([0] * 20, 1.0, False), ([-100] * 20, 1.0, False),
    ],
)  # fmt: skip
def test_results_are_good_if_four_fifths_of_the_errors_of_guessing_are_avoided(labels, accuracy, good):
    run = SimpleNamespace(test_accuracy=torch.tensor([0.1, accuracy]), diverges=False)
    assert good_results.results_are_good(run, torch.tensor(labels)) is good
    assert not good_results.results_are_good(SimpleNamespace(test_accuracy=None, diverges=False), torch.tensor(labels))
