"""Lists layers by name, records their outputs, and checks the inputs of attribution methods.

>>> import torch
>>> found = layer_activations(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), torch.ones(4, 2))
>>> {name: tuple(h.shape) for name, h in found.items()}
{'0': (4, 3), '1': (4, 3)}
"""

from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.capture import capture_layer_outputs, layer_names, outputs_of_layers
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["layer_activations", "spatial_layers", "names_of_called_layers"]


@add_call_to_errors
def layer_activations(module: nn.Module, x: Any) -> dict[str, Tensor]:
    """Returns the output of every layer for some inputs, by the name of the layer.

        x_0 = x,    x_l = F_l(x_(l-1)),    f(x) = F_L(... F_1(x))                                              (1)

    Layers are the parts that have no parts of their own and that ran. If a layer runs several times, the last output is
    kept. The module runs in eval mode and is not changed.
    Hypotheses: none.
    Reference: [rumelhart1986learning].
    Cost: one forward pass, and all outputs in memory.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(1, 2), nn.Tanh())
    >>> kept = layer_activations(net, torch.ones(3, 1))
    >>> bool((kept["1"] == kept["0"].tanh()).all())
    True
    """
    check_module_is_callable(module)
    inputs = all_inputs(x, module)
    return outputs_of_layers(module, inputs, names_of_called_layers(module, inputs))  # (1)


def names_of_called_layers(module: nn.Module, x: Inputs) -> tuple[str, ...]:
    """Returns the names of the layers that run and return tensors, in the order they run.

    Cost: one forward pass of one example.

    >>> import torch
    >>> names_of_called_layers(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), torch.ones(1, 1))
    ('0', '1')
    """
    with preserve(module, grad=False), capture_layer_outputs(module, layer_names(module)) as kept:
        run_module(module, take_examples(x, slice(0, 1)))
        return tuple(kept)


def spatial_layers(module: nn.Module, x: Inputs) -> tuple[str, ...]:
    """Returns the names of the layers whose outputs are maps (n, channels, height, width), in the order they run.

    Cost: one forward pass of one example.

    >>> import torch
    >>> spatial_layers(nn.Sequential(nn.Conv2d(1, 2, 1), nn.Flatten()), torch.ones(1, 1, 3, 3))
    ('0',)
    """
    # Includes modules with children, because their forward may end with a plain function that no child layer computes.
    names = [name for name, _ in module.named_modules() if name]
    with preserve(module, grad=False), capture_layer_outputs(module, names) as kept:
        run_module(module, take_examples(x, slice(0, 1)))
        found = tuple(name for name, value in kept.items() if value.dim() == 4)
    if not found:
        fix = "Use integrated_gradients or occlusion, which need no such layer"
        raise InputError("no layer has outputs (n, channels, height, width)", accepted="a spatial layer", fix=fix)
    return found


def images(x: Any, module: nn.Module) -> Tensor:
    """Returns the inputs as one tensor of images (n, channels, height, width); raises an error for other inputs."""
    check_module_is_callable(module)
    taken = all_inputs(x, module)
    if not isinstance(taken, Tensor) or taken.dim() != 4:
        shape = tuple(taken.shape) if isinstance(taken, Tensor) else type(taken).__name__
        raise out_of_range_error("x", "a tensor of images (n, channels, height, width)", shape)
    return taken


def one_tensor(x: Any, module: nn.Module, *, whole: bool = False) -> Tensor:
    """Returns the inputs as one floating-point tensor (or any tensor, with ``whole=True``); raises an error for other
    inputs.
    """
    check_module_is_callable(module)
    taken = all_inputs(x, module)
    if not isinstance(taken, Tensor) or not (whole or taken.is_floating_point()):
        what = str(taken.dtype) if isinstance(taken, Tensor) else f"a {type(taken).__name__}"
        fix = "Pass one floating tensor, such as pixels; for tokens use token_attribution or occlusion"
        raise InputError(f"x is {what}", accepted="continuous inputs", fix=fix)
    return taken
