"""The door: networks that are random, or whose examples see each other, have no kernel between examples.

>>> import torch
>>> from gnomon.core.pure import Pure
>>> check(Probe(Pure.of(torch.nn.Linear(2, 1)), torch.zeros(3, 2)))
"""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from gnomon.core.errors import InputError, lesson
from gnomon.core.inputs import Inputs, take
from gnomon.core.pure import Pure, check_finite
from gnomon.tangent.probe import Probe


def check(probe: Probe) -> None:
    """Refuse, with the reason, a module for which "the kernel between two examples" means nothing.

    Hypotheses tested: finite outputs; no chance in the output.
    Cost: none; one forward pass on three examples if the module draws random numbers.
    """
    f, y = probe.f, probe.outputs.detach()
    if y.shape[1] == 0:
        cure = "Return one row per example"
        raise InputError(lesson(f.call, "the module has 0 outputs", "at least one output", cure))
    check_finite(y, call=f.call)
    if probe.drew and not _close(f(probe.x).detach(), y):
        cure = "Call module.eval(), or fix the noise"
        raise InputError(lesson(f.call, "two passes gave different outputs", "a network without chance", cure))


def check_company(f: Pure, x: Inputs, few: Tensor, many: Tensor) -> None:
    """Refuse a module whose outputs for the first examples of x differ as the batch holds few or many others.

    Cost: none, or one forward pass on one example where few and many are the same batch.
    """
    if len(many) == len(few):
        few = f(take(x, slice(0, 1))).detach()
    both = min(len(few), len(many))
    if not _close(many[:both], few[:both]):
        found = "the output for example 0 changes with the other examples of the batch"
        cure = "Call module.eval(), or replace what mixes examples by a normalization within each example"
        raise InputError(lesson(f.call, found, "examples do not see each other", cure))


def check_still(f: Pure, x: Inputs) -> None:
    """Refuse a module that every call changes, as spectral_norm does in training mode: which of them is meant?

    Cost: none, or two forward passes on three examples where the module has buffers.
    """
    state = {name: b.detach().clone() for name, b in f.module.named_buffers()}
    if not state:
        return
    few = take(x, slice(0, 3))
    with torch.no_grad():
        first, second = (f(few, state=state) for _ in range(2))  # the buffers go on from call to call
    if not _close(second, first):
        changed = [name for name, b in f.module.named_buffers() if not torch.equal(b, state[name])]
        found = f"every call changes {', '.join(map(repr, changed[:3])) or 'the module'}, and the outputs with it"
        raise InputError(lesson(f.call, found, "a network that stays what it is", "Call module.eval()"))


def check_parts(module: nn.Module, *, call: str) -> None:
    """Refuse modules that drop units at random or normalize over the batch, by the name of the part.

    Cost: a walk over the parts of the module.
    """
    check_norms(module, call=call)
    for name, part in module.named_modules():
        where = f"'{name}' ({type(part).__name__})"
        if part.training and _dropout(part) > 0:
            found = f"{where} is in training mode and drops units at random"
            raise InputError(lesson(call, found, "a network without chance", "Call module.eval()"))


def check_norms(module: nn.Module, *, call: str) -> None:
    """Refuse modules that normalize over the batch.

    Cost: a walk over the parts of the module.
    """
    for name, part in module.named_modules():
        if isinstance(part, _BatchNorm) and (part.training or part.running_mean is None):
            how = "is in training mode" if part.training else "has no running statistics"
            found = f"'{name}' ({type(part).__name__}) {how} and mixes the examples of a batch"
            cure = "Call module.eval(), or use GroupNorm or LayerNorm"
            raise InputError(lesson(call, found, "examples do not see each other", cure))


def _dropout(part: nn.Module) -> float:
    if isinstance(part, _DropoutNd):
        return part.p
    if isinstance(part, (nn.MultiheadAttention, nn.RNNBase)):
        return part.dropout
    return 0.0


def _close(a: Tensor, b: Tensor) -> bool:
    # half the digits: rounding in a deep network stays far below, a dependence worth refusing far above
    return bool((a - b).abs().max() <= torch.finfo(a.dtype).eps ** 0.5 * (1e-30 + b.abs().max()))
