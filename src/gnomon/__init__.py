"""gnomon: the theory of deep learning as an instrument.

>>> import gnomon, torch
>>> net = torch.nn.Sequential(torch.nn.Linear(2, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
>>> gnomon.limit(net).ntk(torch.eye(2)).shape
torch.Size([2, 2])
"""

import importlib as _importlib  # The leading underscore keeps an imported name out of the tab completion of `gnomon.`.
import typing as _typing

if _typing.TYPE_CHECKING:
    from gnomon import (
        attribution,
        bayes,
        bounds,
        checks,
        data,
        decisions,
        discovery,
        dynamics,
        estimators,
        examination,
        forecast,
        generative,
        graphs,
        kernels,
        landscape,
        linalg,
        models,
        program,
        report,
        robustness,
        scattering,
        sequences,
        symmetry,
        tangent,
        training,
    )
    from gnomon.bounds import certify
    from gnomon.core import (
        BudgetError,
        GnomonError,
        InputError,
        MissingExtraError,
        NoLimitError,
        NotConvergedError,
        NotFiniteError,
        TimeLimitError,
        UnsupportedModuleError,
        WorkersLostError,
        WriteError,
    )
    from gnomon.discovery import discover
    from gnomon.examination.compare import compare
    from gnomon.examination.rank import rank
    from gnomon.examination.run import examine
    from gnomon.examination.watch import watch
    from gnomon.forecast.predict import predict
    from gnomon.kernels import KernelCost, Kernels, Limit, SampledLimit, limit, sampled_limit
    from gnomon.program import InitializationLaw
    from gnomon.tangent import linearize, ntk, ntk_by_layer
    from gnomon.training import train

__version__ = "0.2.0"

__all__ = [
    "BudgetError",
    "KernelCost",
    "GnomonError",
    "InputError",
    "Kernels",
    "InitializationLaw",
    "Limit",
    "MissingExtraError",
    "NoLimitError",
    "NotConvergedError",
    "NotFiniteError",
    "UnsupportedModuleError",
    "TimeLimitError",
    "SampledLimit",
    "WorkersLostError",
    "WriteError",
    "attribution",
    "compare",
    "bayes",
    "bounds",
    "certify",
    "checks",
    "data",
    "decisions",
    "discover",
    "discovery",
    "dynamics",
    "estimators",
    "examination",
    "examine",
    "forecast",
    "generative",
    "graphs",
    "kernels",
    "landscape",
    "limit",
    "linalg",
    "linearize",
    "models",
    "ntk",
    "ntk_by_layer",
    "predict",
    "program",
    "rank",
    "report",
    "robustness",
    "sampled_limit",
    "scattering",
    "sequences",
    "symmetry",
    "tangent",
    "train",
    "training",
    "watch",
]

_HOMES = {
    **dict.fromkeys(("KernelCost", "Kernels", "Limit", "SampledLimit", "limit", "sampled_limit"), "kernels"),
    **dict.fromkeys(("linearize", "ntk", "ntk_by_layer"), "tangent"),
    **dict.fromkeys(("compare", "examine", "rank", "watch"), "examination"),
    **dict.fromkeys((name for name in __all__ if name.endswith("Error")), "core"),
    "InitializationLaw": "program",
    "certify": "bounds",
    "discover": "discovery",
    "predict": "forecast",
    "train": "training",
}
"""The subpackages that define these names; every other public name is a subpackage itself."""


def __getattr__(name: str) -> _typing.Any:
    """Import a subpackage when one of its names is first used, so that ``import gnomon`` and ``--help`` are fast."""
    if name not in __all__:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    module = _importlib.import_module(f"gnomon.{_HOMES.get(name, name)}")
    value = getattr(module, name) if name in _HOMES else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names and the version."""
    return sorted([*__all__, "__version__"])
