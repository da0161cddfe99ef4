"""A ReLU and the affine layer after it, in one pass over the entries.

Two instructions read and write every entry twice, and a ReLU by itself must be ready for obtuse angles and for points
without variance. After another ReLU there are none of the first: E[relu(u) relu(v)] >= 0, and affine layers keep it so.
"""

from gnomon.kernels.fused.opcodes import AFFINE, KINK, RECTIFIED
from gnomon.kernels.fused.tape import Instruction


def joined(tape: list[Instruction]) -> list[Instruction]:
    """The tape with every such ReLU joined to its layer. Cost: none.

    >>> import torch
    >>> s, r, u = torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([0.5])
    >>> kink, layer = Instruction(KINK, 0, 0, (s, r), (0.0, 1.0)), Instruction(AFFINE, 0, 0, (u,), (2.0, 1.0))
    >>> [ins.op == RECTIFIED for ins in joined([kink, layer, kink, layer])]     # the first may see obtuse angles
    [False, False, True]
    """
    result: list[Instruction] = []
    acute: set[int] = set()  # registers whose covariances are not negative
    for ins in tape:
        last = result[-1] if result else ins
        if ins.op == AFFINE and ins.source == ins.target == last.target and _joins(last, ins, acute):
            result[-1] = _one(last, ins)
            acute.add(ins.target)
            continue
        if result and last.op == KINK and last.numbers[0] == 0.0:
            acute.add(last.target)
        result.append(ins)
        if ins.op != KINK and not (ins.op == AFFINE and ins.source in acute):
            acute.discard(ins.target)
        elif ins.op == AFFINE:
            acute.add(ins.target)
    return result


def _joins(kink: Instruction, layer: Instruction, acute: set[int]) -> bool:
    if kink.op != KINK or kink.source not in acute or kink.numbers[0] != 0.0:
        return False
    return kink.numbers[1] * layer.numbers[0] > 0.0 and bool((kink.statistics[0] > 0).all())


def _one(kink: Instruction, layer: Instruction) -> Instruction:
    """Statistics and numbers of equation (8) of pointwise.py."""
    (s, r), (u,), (w2, share) = kink.statistics, layer.statistics, layer.numbers
    g = w2 * kink.numbers[1]
    return Instruction(RECTIFIED, layer.target, kink.source, (s * g**0.5, r * 0.5**0.5, u), (0.5 / g, share / w2, g))
