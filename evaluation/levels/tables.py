"""Findings on tables whose rows, columns and errors have nothing to do with each other."""

import torch
from torch import Tensor

from evaluation.levels.statement import Statement
from gnomon.checks.data.row_order import row_order_findings
from gnomon.checks.data.train_only_features import train_only_feature_findings
from gnomon.checks.data.weak_segments import weak_segment_findings

Quiet = tuple[float, None]
"""Whether nothing was found."""


def draw_generator(seed: int) -> torch.Generator:
    """Returns a generator with this seed."""
    return torch.Generator().manual_seed(seed)


def normal(seed: int, *shape: int) -> Tensor:
    """Returns normal numbers."""
    return torch.randn(*shape, generator=draw_generator(seed), dtype=torch.float64)


def _weak_segments(seed: int) -> Quiet:
    """A tenth of the answers is wrong, wherever the examples lie."""
    errors = (torch.rand(300, generator=draw_generator(seed)) < 0.1).double()
    return weak_segment_findings(normal(seed + 1_000_000_000, 300, 5), errors) == (), None


def _weak_segments_of_numbers(seed: int) -> Quiet:
    errors = normal(seed, 300).square()
    return weak_segment_findings(normal(seed + 1_000_000_000, 300, 5), errors) == (), None


def _row_order(seed: int) -> Quiet:
    y = torch.randint(3, (60,), generator=draw_generator(seed + 1_000_000_000))
    return row_order_findings(normal(seed, 60, 4), y, in_order=False) == (), None


def _row_order_of_numbers(seed: int) -> Quiet:
    return row_order_findings(normal(seed, 60, 4), normal(seed + 1, 60), in_order=False) == (), None


def _train_only(seed: int) -> Quiet:
    """Two features vary in train alone, and have nothing to do with the classes."""
    x, test = normal(seed, 2, 60, 5)
    test[:, 3:] = 0.0
    y = torch.randint(2, (60,), generator=draw_generator(seed + 1_000_000_000))
    return train_only_feature_findings(x, y, test) == (), None


TABLES = (
    Statement("checks.weak_segment_findings, answers", "errors unrelated to the columns", "bound", 0.9999,
              _weak_segments, 1000, 20, "the errors must differ by 0.2 and by a factor of three as well"),
    Statement("checks.weak_segment_findings, numbers", "errors unrelated to the columns", "bound", 0.9999,
              _weak_segments_of_numbers, 1000, 20, "the errors must differ by 0.2 and by a factor of three as well"),
    Statement("checks.row_order_findings, classes", "shuffled rows", "bound", 0.99999999, _row_order, 1000, 60),
    Statement("checks.row_order_findings, numbers", "shuffled rows", "bound", 0.99999999, _row_order_of_numbers, 1000, 60),
    Statement("checks.train_only_feature_findings", "features unrelated to the classes", "bound", 0.999999999,
              _train_only, 1000, 60, "the gain over guessing must exceed 0.2 as well"),
)  # fmt: skip
