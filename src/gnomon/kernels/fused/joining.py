"""Merges each ReLU instruction with the affine layer after it, and bounds the angles between their inputs.

After a ReLU covariances are not negative, and affine layers keep it so. With rho the least correlation before a ReLU
and k(rho) that after it (duals/relu.py), an affine layer with weights and biases brings, for angles x, y of the points
with sin^2 = the share of the weights in their variance,

    sin x sin y k(rho) + cos x cos y >= the least of it over x, y in {min, max}                              (1)

because it is concave in each of the two.
"""

from math import acos, pi, sqrt

from torch import Tensor

from gnomon.kernels.fused.instructions import Instruction
from gnomon.kernels.fused.opcodes import AFFINE, KINK, RECTIFIED

LEVELS = (0.125, 0.25)  # Below these values of h = (1 - correlation) / 2, shorter polynomials are accurate enough.
RELATIVE_SLACK = 1e-4
"""Relative tolerance of h, far above its rounding errors."""


def fuse_relu_with_affine(instructions: list[Instruction]) -> list[Instruction]:
    """Merges every ReLU instruction that follows another ReLU with the affine layer after it, for speed.

    >>> import torch
    >>> s, r, u = torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([0.5])
    >>> kink, layer = Instruction(KINK, 0, 0, (s, r), (0.0, 1.0, 0.0)), Instruction(AFFINE, 0, 0, (u,), (2.0, 1.0))
    >>> [(ins.op, *ins.numbers[3:]) for ins in fuse_relu_with_affine(4 * [kink, layer])]
    [(2,), (1,), (16, 0.5), (16, 0.5), (16, 0.5)]
    """
    result: list[Instruction] = []
    least: float | None = None  # smallest correlation of two points before the last ReLU
    before: Tensor | None = None  # variances that the last ReLU adds after the affine layer that follows it
    i = 0
    while i < len(instructions):
        kink, layer = instructions[i], instructions[i + 1] if i + 1 < len(instructions) else instructions[i]
        if not _pair(kink, layer):
            result.append(kink)
            least = before = None
            i += 1
            continue
        g = kink.numbers[1] * layer.numbers[0]
        s = kink.statistics[0]
        follows = i > 0 and before is not None and kink.source == instructions[i - 1].target
        if follows and least is not None and before is not None:
            least = _after(least, (before / s.square()).clamp(0, 1))
            result.append(_one(kink, layer, g, (1 - least) / 2 * (1 + RELATIVE_SLACK)))
        else:
            least = -1.0
            result += [kink, layer]
        before = g / 2 * s.square()
        i += 2
    return result


def _pair(kink: Instruction, layer: Instruction) -> bool:
    """Whether a ReLU instruction with positive variances is directly followed by an affine layer."""
    if kink.op != KINK or layer.op != AFFINE or not kink.target == layer.source == layer.target:
        return False
    leak, scale, shift = kink.numbers
    plain = leak == 0.0 and shift == 0.0 and scale * layer.numbers[0] > 0.0
    return plain and bool((kink.statistics[0] > 0).all())


def _after(rho: float, share: Tensor) -> float:
    """Returns the smallest correlation that two points can have after a ReLU and an affine layer, if it was rho before.

    See equation (1) of the module docstring.
    """
    turn = acos(rho)
    rectified = (sqrt(1 - rho * rho) + (pi - turn) * rho) / pi
    ends = [(sqrt(v), sqrt(1 - v)) for v in (float(share.min()), float(share.max()))]
    return min(1.0, *(sx * sy * rectified + cx * cy for sx, cx in ends for sy, cy in ends))


def _one(kink: Instruction, layer: Instruction, g: float, largest: float) -> Instruction:
    """Returns one instruction that does the work of two: a ReLU and the affine layer after it."""
    (s, r), (u,), (w2, share) = kink.statistics, layer.statistics, layer.numbers
    top = next((level for level in LEVELS if largest <= level), 0.5)
    return Instruction(
        RECTIFIED, layer.target, kink.source, (s * g**0.5, r * 0.5**0.5, u), (0.5 / g, share / w2, g, top)
    )
