"""Checks the options that exact and sampled infinite-width kernels share."""

from typing import Any, Literal

import torch

from gnomon.core.errors import out_of_range_error

Parametrization = Literal["standard", "ntk"]
"""Whether the tangent kernel uses PyTorch's parameters, or parameters scaled by 1 / sqrt(fan in)."""


def check_options(parametrization: Any, dtype: Any) -> None:
    """Raises an error if the parametrization or the dtype of a kernel is unknown.

    >>> check_options("ntk", torch.float64)
    """
    if parametrization not in ("standard", "ntk"):
        raise out_of_range_error("parametrization", '"standard" or "ntk"', parametrization)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point or dtype.itemsize == 1:
        raise out_of_range_error("dtype", "torch.float64 or torch.float32", dtype)
