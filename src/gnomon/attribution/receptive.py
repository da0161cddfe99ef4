"""Receptive fields: which region of the image an output of a convolution depends on, measured and in theory.

    r_l = r_{l-1} + dilation (k_l - 1) j_{l-1},    j_l = j_{l-1} stride_l                                  (1)
    seen_l = extent of the inputs with d h_l(middle) / dx != 0,   weight = its standard deviation          (2)

(1) is how far a layer could see, (2) how far it does; most of the weight lies near the middle [luo2016understanding].
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Line, Plot, Result, Scatter

__all__ = ["ReceptiveField", "receptive_field"]

WINDOWS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d,
           nn.AvgPool3d)  # fmt: skip
MAX_EXAMPLES = 4
"""Maximum number of examples used."""
ROUNDING_SHARE = 1e-7
"""Share of the largest gradient that counts as rounding."""


@dataclass(frozen=True, slots=True)
class ReceptiveField(Result):
    """Result: the size of the image region that affects the middle output of each layer, in pixels along one axis.

    ``theory`` is (1), None if the path to the layer is not a chain of torch.nn layers; ``measured`` is the extent
    (2), at most the ``side`` of the image; ``weight`` is twice the standard deviation of the gradient's position.
    ``strides`` has the pixels between neighboring outputs of each layer, j_l of (1), None where ``theory`` is; and
    ``paddings`` the padding of each layer at the start of the axis, in outputs of the layer before.

    >>> ReceptiveField(("0", "1"), (3, 5), (3, 5), (1.2, 1.9), 16).verdict
    'An output of the last layer sees 5 of 16 pixels (5 by its layers); most of the influence comes from the central 4
    pixels.'
    """

    layers: tuple[str, ...]
    theory: tuple[int | None, ...]
    measured: tuple[int, ...]
    weight: tuple[float, ...]
    side: int
    strides: tuple[int | None, ...] = ()
    paddings: tuple[int, ...] = ()

    @property
    def verdict(self) -> str:
        """States how large the receptive field of the last layer is."""
        theory = "" if self.theory[-1] is None else f" ({self.theory[-1]} by its layers)"
        return (
            f"An output of the last layer sees {self.measured[-1]} of {self.side} pixels{theory}; most of the "
            f"influence comes from the central {2 * self.weight[-1]:.0f} pixels."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the receptive field of each layer, and the width of the region that contributes most."""
        places = list(range(len(self.layers)))
        lines: list[Line | Scatter] = [
            Scatter("measured", places, list(self.measured), 0),
            Scatter("measured, most of the influence", places, list(self.weight), 1),
        ]
        known = [(i, t) for i, t in enumerate(self.theory) if t is not None]
        if known:
            lines.append(Line("by the layers", [i for i, _ in known], [t for _, t in known], color=0))
        return (Plot("Receptive field", tuple(lines), Axis("layer"), Axis("pixels")),)


@add_call_to_errors
def receptive_field(module: nn.Module, data: Any) -> ReceptiveField:
    """Measures receptive fields of convolution and pooling layers by gradients, and compares them with the theoretical
    sizes.

    See equations (2) and (1) of the module docstring.

    Args:
        module: a network with torch.nn layers on (n, channels, *sides).
        data: images or series, or a data set; the first four are used.

    Hypotheses: (1) holds for a chain of layers; skips and branches in forward are not in (1), but are measured in (2).
    Reference: [luo2016understanding].
    Cost: one forward pass, and a backward pass for each layer.

    >>> net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3))
    >>> receptive_field(net, torch.randn(4, 1, 20, 20)).theory
    (3, 4, 8)
    >>> receptive_field(net, torch.randn(4, 1, 20, 20)).strides
    (1, 2, 2)
    """
    check_weights(module)
    inputs = as_input_source(data, module).first(MAX_EXAMPLES).x
    if not isinstance(inputs, Tensor) or inputs.dim() < 3 or not inputs.is_floating_point():
        found = (
            f"the inputs are {tuple(inputs.shape)}" if isinstance(inputs, Tensor) else f"the inputs are {type(inputs)}"
        )
        raise InputError(found, accepted="real images (n, channels, *sides)", fix="Pass images or series")
    seen: list[tuple[str, tuple[int, int] | None, int, Tensor]] = []
    with preserve(module, seed=0):
        image = inputs.detach().clone().requires_grad_()
        known: dict[int, tuple[int, int]] = {id(image): (1, 1)}
        kept: list[Any] = [image]
        hooks = [m.register_forward_hook(_watch(n, known, kept, seen)) for n, m in module.named_modules() if _leaf(m)]
        try:
            run_module(module, image)
        finally:
            for hook in hooks:
                hook.remove()
        if not seen:
            found = "forward calls no convolution or pooling layer"
            raise InputError(found, accepted="layers with windows", fix="Pass a convolutional network")
        extents = [_extent(out, image) for *_, out in seen]
    return ReceptiveField(
        tuple(s[0] for s in seen),
        tuple(None if s[1] is None else s[1][0] for s in seen),
        tuple(e[0] for e in extents),
        tuple(e[1] for e in extents),
        inputs.shape[2],
        tuple(None if s[1] is None else s[1][1] for s in seen),
        tuple(s[2] for s in seen),
    )


def _leaf(m: nn.Module) -> bool:
    return not any(True for _ in m.children())


def _watch(
    name: str,
    known: dict[int, tuple[int, int]],
    kept: list[Any],
    seen: list[tuple[str, tuple[int, int] | None, int, Tensor]],
) -> Any:
    """Returns a forward hook that computes each layer's theoretical receptive field from its input's
    receptive field.
    """

    def hook(m: nn.Module, args: tuple[Any, ...], out: Any) -> None:
        if not args or not isinstance(args[0], Tensor) or not isinstance(out, Tensor) or out.dim() < 3:
            return
        kept.extend((args[0], out))
        field = known.get(id(args[0]))
        if isinstance(m, WINDOWS):
            k, s, d = (_first(getattr(m, key, 1)) for key in ("kernel_size", "stride", "dilation"))
            if field is not None:
                field = (field[0] + d * (k - 1) * field[1], field[1] * s)  # (1)
            # torch pads "same" by d (k - 1) in all, of which the start has the smaller half
            named = {"same": d * (k - 1) // 2, "valid": 0}
            padding = m.padding
            seen.append((name, field, named[padding] if isinstance(padding, str) else _first(padding), out))
        elif out.shape != args[0].shape:
            field = None
        if field is not None:
            known[id(out)] = field

    return hook


def _first(value: Any) -> int:
    return int(value[0]) if isinstance(value, tuple) else int(value)


def _extent(out: Tensor, image: Tensor) -> tuple[int, float]:
    """Returns the measured receptive field of a layer along the first image axis in pixels, and the spread of its
    gradient.

    See equation (2) of the module docstring.
    """
    target = out
    for side in out.shape[2:]:
        target = target.select(2, side // 2)
    (gradient,) = torch.autograd.grad((target * torch.randn_like(target)).sum(), image, retain_graph=True)
    size = (
        gradient.detach().double().abs().flatten(3).sum(3) if gradient.dim() > 3 else gradient.detach().double().abs()
    )
    profile = size.sum((0, 1))
    where = (profile > ROUNDING_SHARE * profile.max()).nonzero()[:, 0]
    if not len(where):
        return 0, 0.0
    place = torch.arange(len(profile), dtype=torch.float64, device=profile.device)
    mean = (profile * place).sum() / profile.sum()
    spread = ((profile * (place - mean) ** 2).sum() / profile.sum()).sqrt()
    return int(where[-1] - where[0] + 1), 2 * float(spread)
