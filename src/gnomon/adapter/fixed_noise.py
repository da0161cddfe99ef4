"""Makes modules that sample Gaussian noise deterministic by reusing one noise sample; an example is a variational
autoencoder.

Every example gets the same noise, in every pass, whatever the size of the batch. The outputs are then a function of an
example alone, which derivatives of outputs need.

>>> import torch
>>> class Sampler(nn.Module):
...     def forward(self, x):
...         return x + torch.randn_like(x)
>>> fixed = FixedNoiseView(Sampler())
>>> out = fixed(torch.zeros(3, 2))
>>> bool((out == out[0]).all()), torch.equal(fixed(torch.zeros(1, 2)), out[:1])
(True, True)
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["with_fixed_noise"]

NOISE_SEED = 0
"""Random seed of the fixed draw."""


class FixedNoiseView(ModuleView):
    """Wraps a module that samples Gaussian noise: every call and every example uses the same noise, so outputs are
    deterministic.
    """

    takes_same_inputs = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the output of the wrapped module, computed with the fixed noise."""
        with _FixedNoise():
            return self.module_of_view(*args, **kwargs)


def with_fixed_noise(module: nn.Module, x: Inputs) -> nn.Module:
    """Wraps a module so that its Gaussian noise is fixed; returns the module unchanged if it has no noise or other
    randomness as well.

    Cost: two or three forward passes on two examples.

    >>> net = nn.Linear(2, 1)
    >>> with_fixed_noise(net, torch.zeros(2, 2)) is net
    True
    """
    if any(is_lazy(parameter) for parameter in module.parameters()):
        return module  # A trial forward pass is skipped, because it would initialize the module's lazy layers.
    few = take_examples(x, slice(0, 2))
    view = FixedNoiseView(module)
    try:
        with preserve(module, grad=False, seed=0):
            if not _draws(module, few) or _draws(view, few):
                return module
    except InputError:
        return module  # The module fails; the caller, which runs the module next, reports the error.
    return view


def _draws(module: nn.Module, x: Inputs) -> bool:
    """Checks whether a forward pass of the module draws random numbers."""
    before = torch.get_rng_state()
    run_module(module, x)
    return not torch.equal(before, torch.get_rng_state())


class _FixedNoise(TorchFunctionMode):
    """Context manager in which torch functions that sample Gaussian noise return fixed numbers, the same for each
    example.
    """

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(NOISE_SEED)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "normal_":
            mean, std = (*args[1:], options.get("mean", 0.0), options.get("std", 1.0))[:2]
            return args[0].copy_(self._rows(args[0]) * std + mean)
        if name == "randn_like":
            return self._rows(args[0]).to(options.get("dtype") or args[0].dtype)
        if name == "randn" and "generator" not in options:
            made = torch.empty(*args, **options)
            return self._rows(made)
        if name == "normal" and len(args) == 2 and all(isinstance(part, Tensor) for part in args):
            return args[0] + args[1] * self._rows(args[0])
        return func(*args, **options)

    def _rows(self, like: Tensor) -> Tensor:
        row = torch.randn(like.shape[1:], generator=self.generator)
        return row.to(like).expand(like.shape).clone()
