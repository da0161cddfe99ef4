"""Estimates the compilation time before `limit_layers` can predict signal sizes and correlations in a network."""

from gnomon.expectations.compile_time import compile_seconds
from gnomon.kernels.duals import Quadrature
from gnomon.kernels.match import dual_of
from gnomon.program.steps import Activation, Program

__all__ = ["layers_compile_seconds"]


def layers_compile_seconds(program: Program, pairs: int | None = None) -> float:
    """Returns the approximate compilation seconds before `limit_layers` can run; 0 if all have closed forms.

    ``pairs`` is the number of covariances below each activation, if it is known.
    Cost: 50 ms for each activation without a closed form.

    >>> import torch
    >>> from gnomon.program import read_program
    >>> net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())
    >>> layers_compile_seconds(read_program(net, torch.zeros(2, 1)))
    0.0
    """
    duals = {dual_of(step.op.expression) for step in program.steps if isinstance(step.op, Activation)}
    return max((compile_seconds(dual.function, pairs) for dual in duals if isinstance(dual, Quadrature)), default=0.0)
