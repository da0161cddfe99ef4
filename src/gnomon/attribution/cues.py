"""Measures whether an image classifier relies on texture or shape, and how much the arrangement of patches matters.

    shape bias = decisions for the shape / decisions for shape or texture, for images whose cues disagree       (1)
    arrangement = accuracy on images - accuracy on the same images with their patches shuffled                  (2)

Hypotheses: images (n, c, h, w); (1) images whose shape and texture belong to different classes.
Reference: [geirhos2019imagenet], (1); [brendel2019approximating], (2).
Cost: one forward pass; (2) two.

>>> conflict = cue_conflict(nn.Flatten(), torch.eye(4).reshape(4, 1, 2, 2), [0, 1, 0, 1], [1, 2, 2, 3])
>>> conflict.shape, conflict.texture
(2, 2)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import images
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_targets, check_integer, check_seed
from gnomon.core.inputs.source import data_source
from gnomon.core.metrics import predicted_classes
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Result

__all__ = ["PatchShuffleAccuracy", "CueConflict", "analogy_score", "patch_shuffle_accuracy", "cue_conflict"]


@dataclass(frozen=True, slots=True)
class CueConflict(Result):
    """Result: how many predictions follow the shape, the texture, or neither, on images whose shape and texture
    conflict.
    """

    shape: int
    texture: int
    neither: int

    @property
    def shape_bias(self) -> float:
        """Returns the fraction of predictions that follow the shape rather than the texture; NaN if none follows
        either.
        """
        followed = self.shape + self.texture
        return self.shape / followed if followed else float("nan")

    @property
    def verdict(self) -> str:
        """States in one sentence how often predictions follow the shape if shape and texture disagree."""
        return f"If shape and texture disagree, {self.shape_bias:.0%} of the decisions follow the shape."


@add_call_to_errors
def cue_conflict(module: nn.Module, x: Any, shapes: Any, textures: Any) -> CueConflict:
    """Counts predictions on images that have the shape of one class and the texture of another class.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [geirhos2019imagenet].
    Cost: one forward pass.

    >>> cue_conflict(nn.Flatten(), torch.ones(1, 1, 1, 2), [0], [1]).shape_bias
    1.0
    """
    inputs = images(x, module)
    a, b = (as_targets(v, len(inputs)).long() for v in (shapes, textures))
    if bool((a == b).any()):
        fix = "Pass only images whose shape and texture are of different classes"
        raise InputError(
            "some images have shape and texture of the same class",
            accepted="shape and texture of different classes",
            fix=fix,
        )
    decided = predicted_classes(outputs_in_eval_mode(module, inputs)).cpu()
    return CueConflict(*(int(v.sum()) for v in (decided == a, decided == b, (decided != a) & (decided != b))))  # (1)


@dataclass(frozen=True, slots=True)
class PatchShuffleAccuracy(Result):
    """Result: the accuracy on images, and on the same images with their patches shuffled."""

    accuracy: float
    shuffled: float

    @property
    def arrangement(self) -> float:
        """Returns the accuracy on original images minus the accuracy with shuffled patches.

        See equation (2) of the module docstring.
        """
        return self.accuracy - self.shuffled

    @property
    def verdict(self) -> str:
        """States in one sentence how shuffling image patches changes the accuracy."""
        return (
            f"If the patches of each image are shuffled, accuracy goes from {self.accuracy:.1%} to {self.shuffled:.1%}."
        )


@add_call_to_errors
def patch_shuffle_accuracy(module: nn.Module, data: Any, *, patch: int = 4, seed: int = 0) -> PatchShuffleAccuracy:
    """Measures how much accuracy depends on the arrangement of image patches.

    See equation (2) of the module docstring.
    ``data`` have images and classes: a pair, a ``Dataset``, a ``DataLoader``, batches.
    Hypotheses: see the module; the patch size divides height and width.
    Reference: [brendel2019approximating].
    Cost: two forward passes.

    >>> mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2))
    >>> patch_shuffle_accuracy(mean, (torch.rand(8, 1, 4, 4), torch.arange(8) % 2), patch=2).arrangement
    0.0
    """
    x, y = data_source(data, module=module).pair()
    inputs = images(x, module)
    target, size = as_targets(y, len(inputs)).long().cpu(), check_integer("patch", patch)
    n, c, h, w = inputs.shape
    if h % size or w % size:
        found = f"patches of {size} do not tile {h} x {w} pixels"
        raise InputError(found, accepted="patches that tile the image", fix="Pass a patch size that divides both sides")
    tiles = inputs.reshape(n, c, h // size, size, w // size, size).permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
    draw = torch.Generator().manual_seed(check_seed(seed))
    order = torch.rand(n, tiles.shape[1], generator=draw).argsort(1).to(inputs.device)
    mixed = tiles[torch.arange(n, device=inputs.device)[:, None], order]
    mixed = mixed.reshape(n, h // size, w // size, c, size, size).permute(0, 3, 1, 4, 2, 5).reshape(n, c, h, w)
    right = [
        float((predicted_classes(outputs_in_eval_mode(module, v)).cpu() == target).double().mean())
        for v in (inputs, mixed)
    ]
    return PatchShuffleAccuracy(*right)  # (2)


@add_call_to_errors
def analogy_score(embedding: Tensor, quadruples: Any) -> float:
    """Returns the fraction of analogies a : b = c : d for which d is the embedding nearest to b - a + c (by cosine).

    Cost: the cosines of each analogy with all rows.

    >>> analogy_score(torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [1.0, 2.0]]), [(0, 1, 2, 3)])
    1.0
    """
    table = torch.as_tensor(embedding).double()
    index = torch.as_tensor(quadruples).reshape(-1, 4).long()
    if table.dim() != 2 or not len(index) or int(index.max()) >= len(table) or int(index.min()) < 0:
        fix = "Pass embedding as (words, size) and row numbers below the number of words"
        raise InputError(
            "quadruples holds row numbers that the embedding does not have",
            accepted="four row numbers (a, b, c, d) for each analogy a : b = c : d",
            fix=fix,
        )
    unit = table / table.norm(dim=1, keepdim=True).clamp(min=1e-30)
    a, b, c, d = index.T
    near = (unit[b] - unit[a] + unit[c]) @ unit.T
    for taken in (a, b, c):
        near[torch.arange(len(index)), taken] = -torch.inf
    return float((near.argmax(1) == d).double().mean())
