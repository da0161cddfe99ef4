"""Converts a PyTorch module to a program: a list of records (steps) that say what the module computes, in order.

Contains: an nn.Module read as data by torch.fx, with no parameter or call left unread; layouts, elementwise
expressions, initialization laws, piecewise linear networks.
Does not contain: numbers computed from data.
May import: core.
"""

from gnomon.program.laws import InitializationLaw
from gnomon.program.read import read_program
from gnomon.program.steps import Program, ProgramStep

__all__ = ["InitializationLaw", "Program", "ProgramStep", "read_program"]
