"""Class activation maps, which show where in an image the evidence for a class is.

    logit_c - bias_c = mean_u M_c(u),    M_c(u) = sum_k w_ck F_k(u)      for pooled linear heads, exactly        (1)
    G_c(u) = relu(sum_k a_ck F_k(u)),    a_ck = mean_u d logit_c / d F_k(u)      for all others (Grad-CAM)       (2)

Hypotheses: (1) the head is the mean over positions and one linear layer; (2) a layer with outputs (n, c, h, w).
Reference: [zhou2016learning], (1); [selvaraju2017grad], (2).
Cost: one forward pass; (2) a backward pass too.

>>> import torch
>>> net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2))
>>> x = torch.rand(2, 1, 6, 6)
>>> made = cam(net, x, 1).values.mean((1, 2))
>>> bool(torch.allclose(made, net(x)[:, 1] - net[4].bias[1], atol=1e-6))
True
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnomon.attribution.layers import images, spatial_layers
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import freeze_parameters, target_of_each_example, target_scores
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.modules.capture import capture_layer_outputs
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve

__all__ = ["cam", "cam_overlap", "grad_cam"]

MAX_CAM_ERROR = 1e-3
"""Relative difference between (1) and the logits above which the head is not a pooled linear layer."""


@add_call_to_errors
def cam(module: nn.Module, data: Any, target: Any = None, *, layer: str | None = None) -> Attribution:
    """Computes the exact class activation map of each image, a heat map of the evidence for a class in the image.

    See equation (1) of the module docstring.
    The decomposition is checked against the logits; any other head raises an error.
    Hypotheses: see the module.
    Reference: [zhou2016learning].
    Cost: one forward pass.

    >>> import torch
    >>> net = nn.Sequential(nn.Conv2d(1, 2, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2))
    >>> cam(net, torch.rand(3, 1, 4, 4)).values.shape
    torch.Size([3, 4, 4])
    """
    inputs = images(data, module)
    names = [layer] if layer else list(spatial_layers(module, inputs))
    heads = [part for part in module.modules() if isinstance(part, nn.Linear)]
    if not heads:
        raise InputError("the module has no Linear layer", accepted="a pooled linear head", fix="Use grad_cam instead")
    head = heads[-1]
    with preserve(module, grad=False), capture_layer_outputs(module, names) as kept:
        which = target_of_each_example(module, inputs, target)
        logits = run_to_rows(module, inputs).gather(1, which[:, None])[:, 0]
        wide = [
            kept[name] for name in names if kept[name].shape[1] == head.in_features and kept[name][0, 0].numel() > 1
        ]
        if wide and head.out_features > int(which.max()):
            features = wide[-1]
            maps = torch.einsum("nk,nkhw->nhw", head.weight[which], features)  # (1)
            bias = head.bias[which] if head.bias is not None else torch.zeros_like(logits)
            apart = (maps.mean((1, 2)) + bias - logits).abs().max()
            if float(apart) <= MAX_CAM_ERROR * max(float(logits.abs().max()), 1e-12):
                return Attribution(maps, which, "class activation map", inputs=inputs)
    raise InputError(
        "the logits are not a sum over positions", accepted="a pooled linear head", fix="Use grad_cam instead"
    )


@add_call_to_errors
def grad_cam(module: nn.Module, data: Any, target: Any = None, *, layer: str | None = None) -> Attribution:
    """Computes the Grad-CAM map of each image at a layer, a heat map of the evidence for a class in the image.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [selvaraju2017grad].
    Cost: one forward and one backward pass.

    >>> import torch
    >>> grad_cam(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2)), torch.rand(3, 1, 4, 4)).values.shape
    torch.Size([3, 2, 2])
    """
    inputs = images(data, module)
    with preserve(module):
        which = target_of_each_example(module, inputs, target)
        if layer is None:
            names = [name for name, _ in module.named_modules() if name]
            with capture_layer_outputs(module, names) as kept:
                total = target_scores(module, inputs, which).sum()
        else:
            with freeze_parameters(module), _start_gradients_at(module, layer) as kept:
                total = target_scores(module, inputs, which).sum()
        maps = {name: h for name, h in kept.items() if h.dim() == 4}
        if not maps:
            found = "no layer has" if layer is None else f"the layer '{layer}' does not have"
            fix = "Use integrated_gradients or occlusion, which need no such layer"
            raise InputError(f"{found} outputs (n, channels, height, width)", accepted="a spatial layer", fix=fix)
        features = ([h for h in maps.values() if h[0, 0].numel() > 1] or list(maps.values()))[-1]
        slope = torch.autograd.grad(total, features, allow_unused=True)[0] if total.requires_grad else None
        weights = torch.zeros_like(features[:, :, 0, 0]) if slope is None else slope.mean((2, 3))
        maps_ = torch.einsum("nk,nkhw->nhw", weights, features).relu().detach()  # (2)
        return Attribution(maps_, which, "Grad-CAM", inputs=inputs)


@contextmanager
def _start_gradients_at(module: nn.Module, layer: str) -> Iterator[dict[str, Tensor]]:
    """Records the output of one layer and makes it the start of the gradient graph, so that earlier layers store
    nothing.
    """
    with capture_layer_outputs(module, [layer]) as kept:

        def start(_: nn.Module, __: Any, output: Any) -> Any:
            if not isinstance(output, Tensor) or not output.is_floating_point():
                return None
            kept[layer] = output.detach().requires_grad_()
            return kept[layer].clone()  # A copy is returned, because the next layer may change its input in place.

        handle = module.get_submodule(layer).register_forward_hook(start)
        try:
            yield kept
        finally:
            handle.remove()


def resize_maps(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Interpolates attribution maps (n, h, w) to another resolution."""
    return functional.interpolate(maps[:, None], size=size, mode="bilinear", align_corners=False)[:, 0]


@add_call_to_errors
def cam_overlap(first: nn.Module, second: nn.Module, x: Any, target: Any = None) -> Tensor:
    """Compares the image regions that two models use: the cosine of their Grad-CAM maps per image, from 0 to 1.

    A map is zero everywhere if nothing in the image supports the class. Two zero maps have overlap 1; a zero map and
    any other map have overlap 0.
    Cost: a forward and a backward pass of each.

    >>> import torch
    >>> net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    >>> cam_overlap(net, net, torch.rand(2, 1, 4, 4)).round(decimals=3).tolist()
    [1.0, 1.0]
    """
    inputs = images(x, first)
    target = target_of_each_example(first, inputs, target)
    both = [
        resize_maps(grad_cam(net, inputs, target).values, (inputs.shape[2], inputs.shape[3])) for net in (first, second)
    ]
    a, b = (values.flatten(1).double() for values in both)
    a, b = (values / values.amax(1, keepdim=True).clamp(min=torch.finfo(a.dtype).tiny) for values in (a, b))
    overlap = functional.cosine_similarity(a, b, dim=1)
    return torch.where((a == 0).all(1) & (b == 0).all(1), torch.ones_like(overlap), overlap)
