"""Whether what the limit of a program needs is compiled on this machine, and how long that takes where it is not."""

from gnomon.expectations import compile_seconds
from gnomon.kernels.duals import Quadrature
from gnomon.kernels.match import dual_of
from gnomon.program.steps import Activation, Conv, Program

__all__ = ["layers_wait", "loops_kept"]


def layers_wait(program: Program) -> float:
    """Seconds, about, until `layers` can be computed: activations without a closed form need loops that are compiled.

    Cost: 50 ms for each such activation.

    >>> import torch
    >>> from gnomon.program import read
    >>> layers_wait(read(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()), torch.zeros(2, 1)))
    0.0
    """
    duals = {dual_of(step.op.expression) for step in program.steps if isinstance(step.op, Activation)}
    return max((compile_seconds(dual.function) for dual in duals if isinstance(dual, Quadrature)), default=0.0)


def loops_kept(program: Program) -> bool:
    """Whether this process, or an earlier one on this machine, has compiled the loops of kernels of such programs.

    Cost: numba is imported, and a small file is read.

    >>> import torch
    >>> from gnomon.program import read
    >>> loops_kept(read(torch.nn.Linear(1, 1), torch.zeros(2, 1))) in (False, True)
    True
    """
    from gnomon.core.machine.loops import kept  # numba takes a second to import
    from gnomon.kernels.fused.chain import chain
    from gnomon.kernels.fused.planes import stage

    return kept(stage if any(isinstance(step.op, Conv) for step in program.steps) else chain)
