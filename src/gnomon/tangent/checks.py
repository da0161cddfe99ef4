"""Checks that a network has a tangent kernel: outputs must be deterministic and independent of other examples."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.modules.pure import PureFunction, check_finite_outputs
from gnomon.tangent.probe import Probe

__all__ = [
    "DependentExamplesError",
    "check_batch_independence",
    "check_batch_norms",
    "check_eval_mode",
    "check_outputs",
    "check_stable_buffers",
]

ROUNDINGS_PER_PARAMETER = 64
"""Relative perturbation of each parameter, in roundings, that stands for sums in another order."""


class DependentExamplesError(InputError):
    """Raised if the outputs for one example depend on the other examples of the batch, so that no kernel exists."""


def check_outputs(probe: Probe) -> None:
    """Raises an error if a module has no outputs, outputs that are not finite, or random outputs.

    Cost: none; one forward pass on three examples if the module draws random numbers.

    >>> check_outputs(Probe(PureFunction.of(nn.Linear(2, 1)), torch.zeros(3, 2)))
    """
    f, y = probe.f, probe.outputs.detach()
    if y.shape[1] == 0:
        fix = "Return one row per example"
        raise InputError("the module has 0 outputs", accepted="at least one output", fix=fix)
    check_finite_outputs(y)
    if probe.drew and not _close(f(probe.x).detach(), y):
        fix = "Call module.eval(), or fix the noise"
        raise InputError("two passes gave different outputs", accepted="a deterministic network", fix=fix)


def check_batch_independence(f: PureFunction, x: Inputs, few: Tensor, many: Tensor) -> None:
    """Raises an error if the outputs for the first examples of x depend on the other examples of the batch.

    ``few`` and ``many`` are the outputs of the first examples in a small and in a large batch. Sums in another order
    are exact sums of weights that differ by some roundings, so outputs that cancel may differ by what those change.

    Cost: none, or one forward pass on one example if few and many are the same batch; two if outputs cancel.

    >>> f, x = PureFunction.of(nn.Linear(2, 1)), torch.ones(8, 2)
    >>> check_batch_independence(f, x, f(x[:3]).detach(), f(x).detach())
    """
    if len(many) == len(few):
        few = f(take_examples(x, slice(0, 1))).detach()
    both = min(len(few), len(many))
    gap = float((many[:both] - few[:both]).abs().max())
    if not _close(many[:both], few[:both]) and gap > _rounding(f, x, both):
        what = "the output for example 0 changes with the other examples of the batch"
        fix = "Call module.eval(), or replace what mixes examples by a normalization within each example"
        raise DependentExamplesError(what, accepted="that examples do not influence each other", fix=fix)


def check_stable_buffers(f: PureFunction, x: Inputs) -> None:
    """Raises an error if every call changes the module, as spectral_norm does in training mode.

    Cost: none, or two forward passes on three examples if the module has buffers.

    >>> check_stable_buffers(PureFunction.of(nn.BatchNorm1d(2).eval()), torch.ones(4, 2))
    """
    state = {name: b.detach().clone() for name, b in f.module.named_buffers()}
    if not state:
        return
    few = take_examples(x, slice(0, 3))
    with torch.no_grad():
        first = f(few, state=state)
        second = f(few, state=state)  # The second call starts from the buffers that the first call changed.
    if not _close(second, first):
        changed = [name for name, b in f.module.named_buffers() if not torch.equal(b, state[name])]
        what = f"every call changes {', '.join(map(repr, changed[:3])) or 'the module'}, and the outputs with it"
        raise InputError(what, accepted="a network that a call does not change", fix="Call module.eval()")


def check_eval_mode(module: nn.Module) -> None:
    """Raises an error that names the layer if a module uses dropout or normalizes over the batch.

    Cost: a walk over the parts of the module.

    >>> check_eval_mode(nn.Sequential(nn.Linear(2, 2), nn.Dropout()).eval())
    """
    check_batch_norms(module)
    for name, part in module.named_modules():
        where = f"'{name}' ({type(part).__name__})"
        if part.training and _dropout(part) > 0:
            what = f"{where} is in training mode and drops units at random"
            raise InputError(what, accepted="a deterministic network", fix="Call module.eval()")


def check_batch_norms(module: nn.Module) -> None:
    """Raises an error if a module normalizes over the batch.

    Cost: a walk over the parts of the module.

    >>> check_batch_norms(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval())
    """
    for name, part in module.named_modules():
        if isinstance(part, _BatchNorm) and (part.training or part.running_mean is None):
            how = "is in training mode" if part.training else "has no running statistics"
            what = f"'{name}' ({type(part).__name__}) {how} and mixes the examples of a batch"
            fix = "Call module.eval(), or use GroupNorm or LayerNorm"
            raise InputError(what, accepted="that examples do not influence each other", fix=fix)


def _dropout(part: nn.Module) -> float:
    if isinstance(part, _DropoutNd):
        return part.p
    if isinstance(part, (nn.MultiheadAttention, nn.RNNBase)):
        return part.dropout
    return 0.0


def _rounding(f: PureFunction, x: Inputs, n: int) -> float:
    """Returns how much the outputs of the first n examples change if each parameter changes by a few rounding errors.

    Hypotheses: sums are backward stable: in any order they err by at most some roundings of each of their terms.
    """
    some = take_examples(x, slice(0, n))
    draw = torch.Generator().manual_seed(0)
    moved = {}
    for name, p in f.leaves.items():
        sign = torch.randint(0, 2, p.shape, generator=draw).to(p) * 2 - 1
        moved[name] = p.detach() * (1 + ROUNDINGS_PER_PARAMETER * torch.finfo(p.dtype).eps * sign)
    with torch.no_grad():
        return float((f(some, moved) - f(some)).abs().max())


def _close(a: Tensor, b: Tensor) -> bool:
    # Half of the digits: more than the rounding errors of deep networks, less than any real dependence.
    return bool((a - b).abs().max() <= torch.finfo(a.dtype).eps ** 0.5 * (1e-30 + b.abs().max()))
