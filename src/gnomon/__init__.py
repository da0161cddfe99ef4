"""gnomon: the theory of deep learning as an instrument.

>>> import gnomon, torch
>>> net = torch.nn.Sequential(torch.nn.Linear(2, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
>>> gnomon.limit(net).ntk(torch.eye(2)).shape
torch.Size([2, 2])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gnomon import data, kernels, linalg, models, program, tangent, training
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
from gnomon.training import train

if TYPE_CHECKING:
    from gnomon import dynamics, forecast, geometry, landscape
    from gnomon.forecast import predict

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
    "forecast",
    "geometry",
    "kernels",
    "landscape",
    "limit",
    "linalg",
    "linearize",
    "models",
    "ntk",
    "predict",
    "program",
    "tangent",
    "train",
    "training",
]


def __getattr__(name: str) -> Any:
    """Rooms that `limit` does not need are imported when they are first asked for: the door stays light."""
    if name == "dynamics":
        return import_module("gnomon.dynamics")
    if name == "forecast":
        return import_module("gnomon.forecast")
    if name == "geometry":
        return import_module("gnomon.geometry")
    if name == "landscape":
        return import_module("gnomon.landscape")
    if name == "predict":
        return import_module("gnomon.forecast").predict
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
