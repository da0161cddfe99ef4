"""gnomon: the theory of deep learning as an instrument.

>>> import gnomon, torch
>>> net = torch.nn.Sequential(torch.nn.Linear(2, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
>>> gnomon.limit(net).ntk(torch.eye(2)).shape
torch.Size([2, 2])
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from gnomon import data, kernels, linalg, models, program, tangent
from gnomon.core import (
    BudgetError,
    GnomonError,
    InputError,
    MissingExtraError,
    NoLimitError,
    NotFiniteError,
    ReadError,
)
from gnomon.kernels import Cost, Kernels, Limit, Sampled, limit
from gnomon.program import Law
from gnomon.tangent import linearize, ntk

if TYPE_CHECKING:
    from gnomon import dynamics, estimators

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "Cost",
    "GnomonError",
    "InputError",
    "Kernels",
    "Law",
    "Limit",
    "MissingExtraError",
    "NoLimitError",
    "NotFiniteError",
    "ReadError",
    "Sampled",
    "data",
    "dynamics",
    "estimators",
    "kernels",
    "limit",
    "linalg",
    "linearize",
    "models",
    "ntk",
    "program",
    "tangent",
]


def __getattr__(name: str) -> ModuleType:
    """Rooms that `limit` does not need are imported when they are first asked for: the door stays light."""
    if name in ("dynamics", "estimators"):
        return import_module(f"gnomon.{name}")
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
