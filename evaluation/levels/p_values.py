"""P-values when the null hypothesis holds: they must be uniform."""

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from evaluation.levels.statement import Statement
from gnomon.checks.data.compared_labels import compare_labels
from gnomon.checks.data.input_relation import label_input_test
from gnomon.checks.data.leaks import fisher_p_value
from gnomon.checks.data.shift import data_shift
from gnomon.checks.data.unusual import unusual_test_examples
from gnomon.examination.paired import paired_p_value
from gnomon.generative import classifier_test, energy_test, mmd_test, sample_memorization
from gnomon.linalg.label_test import label_test

PERMUTATIONS = 99
"""Enough for p-values of 0.01, the smallest level that the tests report."""


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _labels(seed: int) -> tuple[float, float]:
    x, y = _normal(seed, 40, 5).double(), _normal(seed + 1_000_000_000, 40).double()
    p = label_test(x @ x.mT, y, shuffles=PERMUTATIONS, seed=seed).p_value
    return p, p - 1 / (PERMUTATIONS + 1)


def _unrelated(seed: int) -> tuple[float, float]:
    """Classes drawn apart from the inputs, tested as before labels are called unrelated to them: 400 shuffles."""
    y = torch.randint(3, (50,), generator=torch.Generator().manual_seed(seed + 1_000_000_000))
    found = label_input_test(_normal(seed, 50, 4), y, seed=seed)
    assert found is not None
    return found.p_value, found.p_value - 1 / (len(found.shuffled) + 1)


def _mmd(seed: int) -> tuple[float, float]:
    x, y = _normal(seed, 2, 30, 2)
    p = mmd_test(x, y, permutations=PERMUTATIONS, seed=seed).p_value
    return p, p - 1 / (PERMUTATIONS + 1)


def _energy(seed: int) -> tuple[float, float]:
    x, y = _normal(seed, 2, 30, 2)
    p = energy_test(x, y, permutations=PERMUTATIONS, seed=seed).p_value
    return p, p - 1 / (PERMUTATIONS + 1)


def _classifier(seed: int) -> tuple[float, float]:
    x, y = _normal(seed, 2, 40, 2)
    found = classifier_test(x, y, seed=seed)
    held_out = found.examples // 2
    return found.p_value, float(stats.binom.sf(round(found.statistic * held_out), held_out, 0.5))


def _memorization(seed: int) -> tuple[float, None]:
    samples, train, held_out = _normal(seed, 3, 60, 2)
    return sample_memorization(samples, train, held_out, permutations=PERMUTATIONS, seed=seed).p_value, None


def _shift_inputs(seed: int) -> tuple[float, None]:
    x = _normal(seed, 240, 3)
    return data_shift(x[:120], x[120:], seed=seed).p_value, None


def _shift_classes(seed: int) -> tuple[float, None]:
    x, y = _normal(seed, 20, 2), torch.randint(4, (600,), generator=torch.Generator().manual_seed(seed))
    return data_shift((x[:1].expand(300, 2), y[:300]), (x[:1].expand(300, 2), y[300:]), seed=seed).p_classes, None


def _unusual(seed: int) -> tuple[float, None]:
    x = _normal(seed, 400, 3)
    return unusual_test_examples(x[:200], None, x[200:], None, seed=seed).p_value, None


def _fisher(seed: int) -> tuple[float, float]:
    marked = np.random.default_rng(seed).permutation(90)[:12] < 40  # 12 marks among 40 test and 50 training examples
    c = int(marked.sum())
    return fisher_p_value(c, 40, 12 - c, 50), (fisher_p_value(c + 1, 40, 11 - c, 50) if c < 12 else 0.0)


def _paired_classes(seed: int) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    wrong = torch.as_tensor(generator.random((2, 200)) < 0.2).double()
    p = paired_p_value(wrong[0], wrong[1])
    one, two = ((wrong[i] > wrong[1 - i]).sum().item() for i in (0, 1))
    total, far = int(one + two), abs(one - two) / 2
    outside = [k for k in range(total + 1) if abs(k - total / 2) > far + 1e-9]
    return p, float(stats.binom.pmf(outside, total, 0.5).sum())


def _paired_numbers(seed: int) -> tuple[float, None]:
    one, two = _normal(seed, 2, 60).double().square()
    return paired_p_value(one, two), None


def _compared(seed: int) -> tuple[float, None]:
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(2, (900,), generator=generator)
    x = torch.randn(900, 2, generator=generator) + y[:, None]
    z = compare_labels(x[:600], y[:600], x[600:], y[600:], seed=seed).z
    return float(stats.norm.sf(z)), None


P_VALUES = (
    Statement("tangent.label_test", "labels unrelated to the kernel", "p-value", None, _labels, 1000, 100),
    Statement("checks.label_input_test", "three classes unrelated to the inputs", "p-value", None, _unrelated, 1000, 20),
    Statement("generative.mmd_test", "two samples of one normal law", "p-value", None, _mmd, 1000, 100),
    Statement("generative.energy_test", "two samples of one normal law", "p-value", None, _energy, 1000, 100),
    Statement("generative.classifier_test", "two samples of one normal law", "p-value", None, _classifier, 1000, 60),
    Statement(
        "generative.sample_memorization", "samples independent of the training set", "cautious p-value", None, _memorization,
        1000, 60, "ties count as larger",
    ),
    Statement("checks.data_shift, inputs", "train and test from one law", "p-value", None, _shift_inputs, 1000, 0),
    Statement("checks.data_shift, classes", "four classes, one law", "p-value", None, _shift_classes, 1000, 0),
    Statement(
        "checks.unusual_test_examples", "train and test from one law", "cautious p-value", None, _unusual, 1000, 0,
        "neighbors in train share one distance",
    ),
    Statement("checks.find_leaks (Fisher)", "copies by chance alone", "p-value", None, _fisher, 1000, 500),
    Statement("gnomon.compare, classes", "two networks, 20 % wrong each", "p-value", None, _paired_classes, 1000, 300),
    Statement("gnomon.compare, numbers", "two networks with equal errors", "p-value", None, _paired_numbers, 1000, 500),
    Statement("checks.compare_labels", "train and test from one law", "p-value", None, _compared, 1000, 0),
)  # fmt: skip
