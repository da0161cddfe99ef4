"""Program: an nn.Module as data.

Lives here: tracing by torch.fx, the alphabet of steps, layouts, elementwise expressions, initialization laws.
Does not live here: any covariance or any number computed from data.
May import: core, torch.
"""

from gnomon.program.laws import Law
from gnomon.program.read import read
from gnomon.program.steps import Program, Step

__all__ = ["Law", "Program", "Step", "read"]
