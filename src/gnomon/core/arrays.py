"""Numbers as callers have them, torch tensors or numpy arrays, as tensors.

>>> import numpy
>>> as_tensor(numpy.ones(2))
tensor([1., 1.], dtype=torch.float64)
"""

import numpy as np
import torch
from torch import Tensor

Array = Tensor | np.ndarray
"""A table of numbers of torch or of numpy."""


def as_tensor(values: Array) -> Tensor:
    """A tensor without gradients; arrays are copied, for they may be write-protected.

    Cost: a copy of an array; none for a tensor.

    >>> as_tensor(torch.zeros(1, requires_grad=True)).requires_grad
    False
    """
    return values.detach() if isinstance(values, Tensor) else torch.from_numpy(np.array(values))
