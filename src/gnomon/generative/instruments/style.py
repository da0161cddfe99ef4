"""Compares the style and the content of images; style is the covariance of a network's features.

    content = |f(x) - f(a)|^2 / d,    style = |C(x) - C(b)|_F^2 / |C(b)|_F^2,    C = covariance of features    (1)
                                                                             over positions
    transfer = argmin_x content + weight * style                                                           (2)

Hypotheses: features (n, c, h, w) or (n, c). Reference: [gatys2016image].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module, check_number
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Line, Plot, Result
from gnomon.generative.vectors import finite_points

__all__ = ["StyleDistance", "StyleTransfer", "feature_covariance", "style_distance", "style_transfer"]


@add_call_to_errors
def feature_covariance(features: Tensor) -> Float[Tensor, "c c"]:
    """Returns the covariance of feature channels over images and positions, which describes texture without positions.

        C = (1 / P) sum_p (f_p - mean)(f_p - mean)^T                                                       (1)

    Hypotheses: features (n, c, ...). Reference: [gatys2016image], who do not subtract the mean.
    Cost: c^2 for each position.

    >>> feature_covariance(torch.tensor([[[1.0, -1.0], [2.0, -2.0]]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    return _covariance(finite_points(features, "features"))


def _covariance(features: Tensor) -> Tensor:
    rows = features.movedim(1, -1).flatten(0, -2)
    apart = rows - rows.mean(0)
    return apart.T @ apart / len(rows)  # (1)


@dataclass(frozen=True, slots=True)
class StyleDistance(Result):
    """Result: how different two sets of images are in style, for each layer of a network; 0 for the same texture.

    >>> StyleDistance({"0": 0.1, "2": 0.4}).verdict
    "The styles differ most in '2', by 0.4 of the size of its covariance."
    """

    distances: dict[str, float]

    @property
    def verdict(self) -> str:
        """Names the layer in which the styles of the images differ most."""
        most = max(self.distances, key=lambda name: self.distances[name])
        return f"The styles differ most in '{most}', by {self.distances[most]:.2g} of the size of its covariance."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the style distance of the images in each layer as a bar."""
        bars = Bars("distance", list(self.distances), list(self.distances.values()))
        return (Plot("Style distance", (bars,), Axis("relative distance of covariances"), caption=self.verdict),)


@add_call_to_errors
def style_distance(module: nn.Module, a: Tensor, b: Tensor, *, layers: Sequence[str] | None = None) -> StyleDistance:
    """Measures how different two sets of images are in style, for each layer of a network.

        distance = |C(a) - C(b)|_F / max(|C(a)|_F, |C(b)|_F)                                               (1)

    Args:
        module: any network; it is not changed.
        a: images, or one with a leading axis of 1.
        b: other images.
        layers: names of submodules whose outputs are features; by default all parts without submodules.

    Hypotheses: features (n, c, ...). Reference: [gatys2016image].
    Cost: one forward pass of both.

    >>> a = torch.randn(1, 3, 8, 8)
    >>> style_distance(nn.Conv2d(3, 4, 3), a, a).distances
    {'': 0.0}
    """
    check_module(module)
    a, b = finite_points(a, "a"), finite_points(b, "b")
    with preserve(module, grad=False):
        first, second = (_features(module, x, layers) for x in (a, b))
    distances = {}
    for name, features in first.items():
        p, q = _covariance(features), _covariance(second[name])
        size = max(float(p.norm()), float(q.norm()))
        distances[name] = float((p - q).norm()) / size if size else 0.0  # (1)
    return StyleDistance(distances)


@dataclass(frozen=True, slots=True, eq=False)
class StyleTransfer(Result):
    """Result: an image with one image's content and another's style, and its losses at every step.

    See equation (1) of the module docstring.

    >>> StyleTransfer(torch.zeros(1), (0.0, 0.25), (1.0, 0.5)).verdict
    'The style loss fell by 50.0%; the content changed by 0.25 per feature.'
    """

    image: Tensor
    content: tuple[float, ...]
    style: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """Reports how much the style loss fell during style transfer, and how much the image content changed."""
        fall = 1 - self.style[-1] / self.style[0] if self.style[0] else 0.0
        return f"The style loss fell by {fall:.1%}; the content changed by {self.content[-1]:.3g} per feature."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the style loss and the content loss over the steps of style transfer."""
        steps = range(len(self.style))
        lines = (Line("style", steps, self.style), Line("content", steps, self.content))
        return (Plot("Style transfer", lines, Axis("step"), Axis("loss"), self.verdict),)


@add_call_to_errors
def style_transfer(
    module: nn.Module,
    content: Tensor,
    style: Tensor,
    *,
    layers: Sequence[str] | None = None,
    weight: float = 1e3,
    iterations: int = 200,
    lr: float = 0.05,
) -> StyleTransfer:
    """Finds an image with the network features of one image and the style (feature covariances) of another.

        argmin_x  |f(x) - f(content)|^2 / d + weight |C(x) - C(style)|_F^2 / |C(style)|_F^2                (1)

    Args:
        module: any network; it is not changed.
        content: image (1, c, h, w), the starting point.
        style: image (1, c, h, w).
        layers: names of submodules; by default all without submodules. Content is measured in the last one.
        weight: the weight of style.
        iterations: number of steps of Adam.
        lr: learning rate of Adam.

    Hypotheses: the network is differentiable. Reference: [gatys2016image].
    Cost: a forward and a backward pass for each step.

    >>> net, a = nn.Conv2d(1, 2, 3), torch.randn(1, 1, 8, 8)
    >>> style_transfer(net, a, a, iterations=2).style[0]
    0.0
    """
    check_module(module)
    steps, lr = check_integer("iterations", iterations), check_number("lr", lr, above=0)
    content, style = finite_points(content, "content"), finite_points(style, "style")
    with preserve(module):
        with torch.no_grad():
            wanted = list(_features(module, content, layers).values())[-1]
            styles = [_covariance(f) for f in _features(module, style, layers).values()]
        x = content.detach().clone().requires_grad_()
        optimizer, losses = torch.optim.Adam([x], lr), []
        for step in range(steps + 1):
            features = list(_features(module, x, layers).values())
            moved = (features[-1] - wanted).square().mean()
            terms = [(_covariance(f) - c).square().sum() / c.square().sum().clamp(min=1e-30)
                     for f, c in zip(features, styles, strict=True)]  # fmt: skip
            off = torch.stack(terms).mean()
            losses.append((float(moved.detach()), float(off.detach())))
            if step < steps:
                (x.grad,) = torch.autograd.grad(moved + weight * off, x)  # (1)
                optimizer.step()
    return StyleTransfer(x.detach(), tuple(a for a, _ in losses), tuple(b for _, b in losses))


def _features(module: nn.Module, x: Tensor, layers: Sequence[str] | None) -> dict[str, Tensor]:
    """Returns the outputs of named submodules for some images."""
    parts = dict(module.named_modules())
    names = [n for n, part in parts.items() if not list(part.children())] if layers is None else list(layers)
    unknown = [name for name in names if name not in parts]
    if unknown or not names:
        fix = f"The submodules are: {', '.join(repr(name) for name in parts if name)}"
        raise InputError(f"the network has no submodule {unknown[:1]}", accepted="names of submodules", fix=fix)
    kept: dict[str, Any] = {}
    handles = [
        parts[name].register_forward_hook(lambda _, __, out, name=name: kept.__setitem__(name, out)) for name in names
    ]
    try:
        run_module(module, x)
    finally:
        for handle in handles:
            handle.remove()
    return {name: kept[name] for name in names if isinstance(kept.get(name), Tensor) and kept[name].dim() > 1}
