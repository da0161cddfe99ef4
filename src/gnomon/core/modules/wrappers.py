"""Finds the user's own module inside wrappers that compile it or spread it over devices.

The wrappers share the parameters of the module and compute the same function, so measuring the module inside is enough;
compiled code would be compiled again for every hook.

>>> net = nn.Linear(2, 1)
>>> inner_module(nn.DataParallel(net)) is net
True
"""

from torch import nn

__all__ = ["inner_module"]

COMPILED_CLASS = "OptimizedModule"
"""Class of the result of ``torch.compile``; a name, because importing the class takes seconds."""
INNER_MODULE_KEY = "_orig_mod"
"""Attribute of a compiled module that holds the original module."""


def inner_module(module: nn.Module) -> nn.Module:
    """Unwraps a module from ``torch.compile``, ``DataParallel`` or ``DistributedDataParallel``; returns others
    unchanged.

    >>> inner_module(nn.Linear(2, 1))
    Linear(in_features=2, out_features=1, bias=True)
    """
    while isinstance(module, nn.Module):
        if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
            module = module.module
        elif type(module).__name__ == COMPILED_CLASS and isinstance(module._modules.get(INNER_MODULE_KEY), nn.Module):
            module = module._modules[INNER_MODULE_KEY]  # type: ignore[assignment]
        else:
            break
    return module
