"""Checks whether a network is a chain of Linear layers and ReLUs, which some error bounds assume.

    f(x) = W_L a(W_{L-1} a(... a(W_1 x + b_1) ...) + b_{L-1}) + b_L + c(x),    a = relu or tanh                      (1)

The layers are put together again in this way, and their outputs are compared with the outputs of the module. So the
check does not depend on how ``forward`` is written. The number c(x) is added to all outputs, as a final log-softmax
does; no margin depends on it.

Hypotheses: layers are defined in the order in which they are used.
Reference: [bartlett2017spectrally].

>>> import torch
>>> net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.LogSoftmax(1))
>>> read_relu_chain(net, torch.randn(5, 3)).activation
'relu'
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results.record import Record

__all__ = ["ReluChain", "read_relu_chain"]

MAX_ROUNDINGS = 1e3
"""Roundings by which the outputs of the module and of the chain may differ, relative to the largest."""


@dataclass(frozen=True, slots=True, eq=False)
class ReluChain(Record):
    """A network as a chain of Linear layers with one kind of activation, or the reason why the network is not a chain.

    >>> ReluChain(None, "", "'0' is a Conv2d").layers is None
    True
    """

    layers: nn.Sequential | None
    activation: str
    reason: str


def read_relu_chain(module: nn.Module, x: Tensor) -> ReluChain:
    """Converts a module to a chain of Linear layers and ReLUs with the same outputs, or says why that is impossible.

    See equation (1) of the module docstring.

    Args:
        module: a network.
        x: some inputs to compare outputs on.

    Hypotheses: as for the module's docstring. Reference: [bartlett2017spectrally].
    Cost: two or three forward passes.

    >>> read_relu_chain(nn.Sequential(nn.Linear(2, 2), nn.Softmax(1)), torch.ones(1, 2)).reason
    "the outputs differ from a chain of its Linear layers: '1' is a Softmax"
    """
    named = dict(module.named_modules())
    inside = {id(p) for part in named.values() if isinstance(part, AFFINE_LAYERS) for p in part.parameters()}
    apart = [name for name, p in module.named_parameters() if id(p) not in inside]
    if apart:
        return ReluChain(None, "", f"{len(apart)} of its parameters, such as '{apart[0]}', belong to no Linear layer")
    other = next(
        (n for n, part in named.items() if isinstance(part, AFFINE_LAYERS) and type(part) is not nn.Linear), None
    )
    if other is not None:
        return ReluChain(None, "", f"'{other}' is a {type(named[other]).__name__}, and not a Linear layer")
    layers = [part for part in named.values() if type(part) is nn.Linear]
    sizes = [x[0].numel(), *(size for part in layers for size in (part.in_features, part.out_features))]
    if layers and sizes[::2] == [*sizes[1::2], sizes[-1]]:
        given = outputs_in_eval_mode(module, x).double()
        for activation in (nn.ReLU(), nn.Tanh()):
            inner = [step for part in layers[:-1] for step in (part, activation)]
            chain = nn.Sequential(nn.Flatten(), *inner, layers[-1])
            if _same_margins(given, outputs_in_eval_mode(chain, x)):  # (1)
                return ReluChain(chain, type(activation).__name__.lower(), "")
    known = (nn.Linear, nn.ReLU, nn.Tanh, nn.Flatten, nn.Dropout, nn.Identity, nn.LogSoftmax)
    leaves = {name: part for name, part in named.items() if name and not any(True for _ in part.children())}
    odd = [f": '{name}' is a {type(part).__name__}" for name, part in leaves.items() if type(part) not in known]
    return ReluChain(None, "", f"the outputs differ from a chain of its Linear layers{''.join(odd[:1])}")


def _same_margins(a: Tensor, b: Tensor) -> bool:
    """Returns whether two tables of class scores agree in all differences between classes, up to rounding."""
    if a.shape != b.shape:
        return False
    tolerance = MAX_ROUNDINGS * torch.finfo(b.dtype).eps * float(b.abs().max())
    apart = (a - a.mean(1, keepdim=True)) - (b - b.mean(1, keepdim=True))
    return float(apart.abs().max()) <= tolerance
