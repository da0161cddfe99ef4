"""Creates optimizer, loss and schedule from a command's options: names, or functions in the user's files."""

from typing import Any

from torch import nn

from gnomon.cli.sources import load_named_object
from gnomon.core.errors import InputError, out_of_range_error
from gnomon.training import SGD, Adam
from gnomon.training.torch_optimizers import OptimizerChoice


def optimizer_from_options(name: str | None, lr: float | None, momentum: float, decay: float) -> OptimizerChoice | None:
    """Builds the optimizer that a command's options describe; returns None if the options do not mention one.

    >>> optimizer_from_options(None, 0.1, 0.9, 0.0), optimizer_from_options(None, None, 0.0, 0.0)
    (SGD(lr=0.1, momentum=0.9, decay=0.0), None)
    """
    if name is None and lr is None and not momentum and not decay:
        return None
    if name is not None and ":" in name:
        return load_function_option("--optimizer", name)
    name = name or ("sgd" if momentum else "adam")
    if name not in ("sgd", "adam", "adamw"):
        raise out_of_range_error("--optimizer", "sgd, adam, adamw or file.py:function", name)
    if name == "sgd":
        return SGD(1e-3 if lr is None else lr, momentum=momentum, decay=decay)
    return Adam(1e-3 if lr is None else lr, decay=decay or (0.01 if name == "adamw" else 0.0))


def load_function_option(option: str, spec: str | None) -> Any:
    """Loads the function that a command's option names as ``file.py:name``; returns None if the option was not used."""
    if spec is None:
        return None
    value = load_named_object(spec)
    if not callable(value):
        what = f"{option} is {spec}, which is a {type(value).__name__}"
        raise InputError(what, accepted="a function", fix="Name a function")
    return value() if isinstance(value, type) and issubclass(value, nn.Module) else value
