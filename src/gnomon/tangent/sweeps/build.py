"""Builds networks of several widths and seeds with a user's function, and fits power laws in the width.

>>> import torch
>>> net = build_network(lambda width, seed: nn.Linear(2, width), 5, 0)
>>> net.out_features
5
"""

from collections.abc import Callable, Sequence
from math import log
from typing import Any

import numpy as np
from torch import nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import check_integer, check_module_is_callable
from gnomon.core.modules.preserve import random_state

__all__ = ["NetworkBuilder", "checked_widths", "build_network", "log_log_slope"]

NetworkBuilder = Callable[[int, int], nn.Module]
"""A function of a width and a seed that returns a network."""


def build_network(build: NetworkBuilder, width: int, seed: int) -> nn.Module:
    """Builds a network of a given width in eval mode from a seed, and restores torch's random state.

    Cost: as for the function.

    >>> build_network(lambda width, seed: nn.Linear(1, width), 3, 1).training
    False
    """
    with random_state(seed):
        try:
            module = build(width, seed)
        except TypeError as error:
            fix = "Pass a function of (width, seed) that returns a module"
            raise InputError(f"build raised: {error}", accepted="a function that builds networks", fix=fix) from error
    check_module_is_callable(module)
    return module.eval()


def checked_widths(widths: Sequence[int]) -> tuple[int, ...]:
    """Returns the widths after checking that there are at least three in rising order.

    >>> checked_widths([8, 16, 32])
    (8, 16, 32)
    """
    found = tuple(check_integer("widths", width) for width in widths)
    if len(found) < 3 or list(found) != sorted(set(found)):
        raise InputError(f"widths must be at least 3 rising whole numbers, but they are {list(widths)}")
    return found


def log_log_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Returns the least-squares slope of log y over log x; NaN if some y is not positive.

    >>> round(log_log_slope([1, 2, 4], [1.0, 0.5, 0.25]), 6)
    -1.0
    """
    if min(y) <= 0:
        return float("nan")
    logs: Any = np.polyfit([log(v) for v in x], [log(v) for v in y], 1)
    return float(logs[0])
