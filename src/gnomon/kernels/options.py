"""Options that exact and sampled limits share."""

from typing import Any, Literal

import torch

from gnomon.core.errors import InputError, out_of_range

Parametrization = Literal["standard", "ntk"]
"""Whether the tangent kernel is that of PyTorch's own parameters, or of parameters scaled by 1 / sqrt(fan in)."""


def check_options(parametrization: Any, dtype: Any, call: str) -> None:
    """Refuse parametrizations and types that there are not.

    >>> check_options("ntk", torch.float64, "limit(net)")
    """
    if parametrization not in ("standard", "ntk"):
        raise InputError(out_of_range(call, "parametrization", '"standard" or "ntk"', parametrization))
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point or dtype.itemsize == 1:
        raise InputError(out_of_range(call, "dtype", "torch.float64 or torch.float32", dtype))
