"""Which form of the kernel is computed, and what a Gram matrix is passed with."""

import sys

import pytest
import torch
from torch import nn

from gnomon.core.errors import InputError
from gnomon.forecast.predict import predict


@pytest.mark.parametrize(("points", "form"), [(1500, "full"), (1501, "trace")])
def test_outputs_are_coupled_up_to_three_thousand_examples_times_outputs(monkeypatch, points, form):
    seen = []

    def ntk(*points, outputs):
        seen.append(outputs)
        raise InterruptedError

    monkeypatch.setattr(sys.modules[predict.__module__], "ntk", ntk)
    with pytest.raises(InterruptedError):
        predict(nn.Linear(1, 2), (torch.zeros(points, 1), torch.zeros(points, 2)))
    assert seen == [form]


def test_a_gram_matrix_is_for_predict_from_kernel():
    gram, y = torch.eye(2), torch.ones(2)
    with pytest.raises(InputError, match=r"Gram matrix .*predict_from_kernel\(K, y"):
        predict(gram, y, times=[1.0])
