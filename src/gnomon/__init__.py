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
    NotConvergedError,
    NotFiniteError,
    ReadError,
    WorkersLostError,
)
from gnomon.kernels import Cost, Kernels, Limit, Sampled, limit
from gnomon.program import Law
from gnomon.tangent import linearize, ntk
from gnomon.training import train

if TYPE_CHECKING:
    from gnomon import dynamics, estimators, examination, forecast, geometry, landscape, report
    from gnomon.examination.rank import rank
    from gnomon.examination.run import examine
    from gnomon.examination.watch import watch
    from gnomon.forecast.predict import predict

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
    "NotConvergedError",
    "NotFiniteError",
    "ReadError",
    "Sampled",
    "WorkersLostError",
    "data",
    "dynamics",
    "estimators",
    "examination",
    "examine",
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
    "rank",
    "report",
    "tangent",
    "train",
    "training",
    "watch",
]

LATER = {
    "dynamics": "dynamics",
    "estimators": "estimators",
    "examination": "examination",
    "examine": "examination",
    "forecast": "forecast",
    "geometry": "geometry",
    "landscape": "landscape",
    "predict": "forecast",
    "rank": "examination",
    "report": "report",
    "watch": "examination",
}
"""Names of the door and the rooms that they are in."""


def __getattr__(name: str) -> Any:
    """Rooms that `limit` does not need are imported when they are first asked for: the door stays light."""
    if name in LATER:
        room = import_module(f"gnomon.{LATER[name]}")
        return room if name == LATER[name] else getattr(room, name)
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What the door shows: the public names and the version, not what they are made of."""
    return sorted([*__all__, "__version__"])
