"""Builds the network that the user passed (a module, or a function that creates one), and finds a name for the
report.
"""

import inspect
from typing import Any

from torch import nn

from gnomon.adapter.complex_parameters import with_real_parameters
from gnomon.core.errors import InputError
from gnomon.core.inputs.checks import check_module_is_callable
from gnomon.core.modules.preserve import random_state
from gnomon.core.modules.wrappers import inner_module

__all__ = ["build_module", "network_name"]


def network_name(network: Any) -> str:
    """Returns a network's name for the report: its class or function name, or "network" if that says nothing.

    >>> network_name(nn.Linear(1, 1)), network_name(lambda: None)
    ('Linear', 'network')
    """
    name = type(network).__name__ if isinstance(network, nn.Module) else getattr(network, "__name__", "")
    return "network" if name in ("", "<lambda>", "Sequential") else name


def build_module(network: Any, seed: int) -> nn.Module:
    """Returns the module that the user passed, or calls the user's function to build it with this seed.

    >>> build_module(lambda: nn.Linear(2, 1), 0)
    Linear(in_features=2, out_features=1, bias=True)
    """
    if isinstance(network, nn.Module):
        made = with_real_parameters(inner_module(network))
        check_module_is_callable(made)
        return made
    if not callable(network):
        what = f"the network is a {type(network).__name__}"
        raise InputError(what, accepted="a module or a function that builds one", fix="Pass model or build_model")
    with random_state(seed):
        try:
            built = network()
        # The user's function may raise any error. It is raised again as an InputError.
        except (Exception, SystemExit) as reason:
            what = f"the factory raised {type(reason).__name__}: {reason}"[:200]
            if _needs_arguments(network):
                fix = "Give every argument a default, or pass lambda: build(...)"
                raise InputError(what, accepted="a factory without arguments", fix=fix) from reason
            fix = "Fix the error in the function; its traceback is the cause of this error"
            raise InputError(what, accepted="a factory that returns a module", fix=fix) from reason
    if not isinstance(built, nn.Module):
        what = f"the factory returned a {type(built).__name__}"
        raise InputError(what, accepted="a torch.nn.Module", fix="Return the module")
    made = with_real_parameters(inner_module(built))
    check_module_is_callable(made)
    return made


def _needs_arguments(function: Any) -> bool:
    """Checks whether a function cannot be called without arguments.

    >>> _needs_arguments(lambda width: None), _needs_arguments(lambda: None)
    (True, False)
    """
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.default is inspect.Parameter.empty and p.kind not in kinds for p in given)
