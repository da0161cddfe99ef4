"""Makes a wider copy of a module: multiplies every hidden size by one factor, and keeps inputs and outputs.

Which layers touch the data and which make the output is read off one forward pass: a layer fed by data receives a
tensor that no parameter has touched, and an output layer is met first when the graph of the output is walked back.
"""

from math import ceil
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.run import run_module
from gnomon.program.trace import has_hooks

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)


def widen_layers(net: nn.Module, x: Inputs, width: int) -> nn.Module:
    """Replaces the layers of ``net`` in place so that its narrowest hidden layer has ``width`` units.

    Hypotheses: hidden layers are Linear, Conv, BatchNorm, LayerNorm, GroupNorm; forward has no hard-coded widths.
    Cost: two forward passes.

    >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> widen_layers(net, torch.zeros(1, 3), 32)
    Sequential(
      (0): Linear(in_features=3, out_features=32, bias=True)
      (1): ReLU()
      (2): Linear(in_features=32, out_features=1, bias=True)
    )
    """
    if not isinstance(x, Tensor):
        raise _cannot("the network takes several inputs")
    fed, last = _ends(net, x)
    layers = {p: m for p, m in net.named_modules() if any(True for _ in m.parameters(recurse=False))}
    hidden = [_out(m) for p, m in layers.items() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d) and p not in last]
    if not hidden:
        return net
    factor = ceil(width / min(hidden))
    for path, module in layers.items():
        if has_hooks(module) or parametrize.is_parametrized(module):
            raise _cannot(
                f"'{path}' ({type(module).__name__}) has hooks or parametrizations, which a new layer would not have"
            )
        new = _wider(path, module, 1 if path in fed else factor, 1 if path in last else factor)
        new.train(module.training)
        owner, _, name = path.rpartition(".")
        setattr(net.get_submodule(owner), name, new.to(x))
    try:
        with torch.no_grad():
            net(x)
    except Exception as reason:
        raise _cannot(f"after widening by {factor} forward fails: {str(reason).splitlines()[0]}") from reason
    return net


def _ends(net: nn.Module, x: Tensor) -> tuple[set[str], set[str]]:
    """Returns the paths of the first layers, which receive the data, and of the last layers, which return
    the output.
    """
    fed: set[str] = set()
    made: dict[Any, tuple[str, nn.Module]] = {}
    hooks = []

    def watch(path: str, module: nn.Module) -> Any:
        def hook(_: nn.Module, inputs: tuple[Tensor, ...], output: Any) -> None:
            if inputs and not inputs[0].requires_grad:
                fed.add(path)
            for tensor in output if isinstance(output, tuple) else (output,):
                if isinstance(tensor, Tensor):
                    made[tensor.grad_fn] = (path, module)

        return module.register_forward_hook(hook)

    for path, module in net.named_modules():
        if any(True for _ in module.parameters(recurse=False)):
            hooks.append(watch(path, module))
    try:
        with torch.enable_grad():
            output = run_module(net, x)
    finally:
        for h in hooks:
            h.remove()
    last: set[str] = set()
    todo, seen = [output.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        path, module = made.get(node, ("", None))
        if module is not None:
            last.add(path)
            if not isinstance(module, (*BATCH_NORMS, nn.GroupNorm, nn.LayerNorm)):
                continue
        todo.extend(parent for parent, _ in node.next_functions)
    return fed, last


def _out(module: Any) -> int:
    return int(module.out_features if isinstance(module, nn.Linear) else module.out_channels)


def _wider(path: str, m: Any, left: int, right: int) -> nn.Module:
    """Returns a new layer with ``left`` times as many inputs and ``right`` times as many outputs."""
    if isinstance(m, nn.Linear):
        return nn.Linear(m.in_features * left, m.out_features * right, bias=m.bias is not None)
    if isinstance(m, CONVOLUTIONS):
        kind: Any = type(m)
        sizes = (m.in_channels * left, m.out_channels * right, m.kernel_size, m.stride, m.padding, m.dilation)
        wide: nn.Module = kind(*sizes, groups=m.groups, bias=m.bias is not None, padding_mode=m.padding_mode)
        return wide
    grow = min(left, right)
    if isinstance(m, BATCH_NORMS):
        return type(m)(m.num_features * grow, m.eps, m.momentum, m.affine, m.track_running_stats)
    if isinstance(m, nn.GroupNorm):
        return nn.GroupNorm(m.num_groups, m.num_channels * grow, m.eps, m.affine)
    if isinstance(m, nn.LayerNorm) and len(m.normalized_shape) == 1:
        return nn.LayerNorm(m.normalized_shape[0] * grow, m.eps, m.elementwise_affine, m.bias is not None)
    raise _cannot(f"'{path}' is a {type(m).__name__}")


def _cannot(found: str) -> InputError:
    return InputError(
        found,
        accepted="Linear, Conv, BatchNorm, LayerNorm or GroupNorm as hidden layers, and a forward without fixed widths",
        fix="Build the module with the width you want and do not pass width",
    )
