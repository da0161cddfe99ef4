"""Tracing: torch.fx records the calls of a module; layers of torch.nn and self-describing modules stay whole."""

from typing import Any

from torch import fx, nn

from gnomon.core.attention import SelfAttending
from gnomon.core.errors import ReadError, lesson


class Tracer(fx.Tracer):
    """A tracer whose leaves are the layers that the reader has a rule for, or a reason to refuse."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Layers of torch.nn (but not containers) and attention modules."""
        return isinstance(m, SelfAttending) or super().is_leaf_module(m, module_qualified_name)


def trace(module: nn.Module) -> fx.Graph:
    """The graph of calls that ``module.forward`` makes.

    Hypotheses: forward is a fixed sequence of calls; it does not branch on the values of tensors.
    Cost: one symbolic execution, no arithmetic.

    >>> len(trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU())).nodes)
    4
    """
    if not isinstance(module, nn.Module):
        raise ReadError(
            lesson("read(module)", f"got {type(module).__name__}", "a torch.nn.Module", "Pass the module itself, not its class or output")
        )
    tracer = Tracer()
    try:
        if tracer.is_leaf_module(module, ""):
            return _single(module)
        return tracer.trace(module)
    except Exception as reason:  # whatever the user's forward raises under tracing is a reason, not a crash of ours
        raise ReadError(
            lesson(
                f"read({type(module).__name__})",
                f"forward cannot be traced: {type(reason).__name__}: {_first_line(reason)}",
                "forward is a fixed sequence of calls on tensors",
                'Remove branches on tensor values from forward, or estimate: gnomon.limit(net, method="monte-carlo", samples=64)',
            )
        ) from reason


def _single(module: nn.Module) -> fx.Graph:
    """A module that is itself one layer."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.create_node("call_module", "", (x,), {}, type(module).__name__.lower())
    graph.output(node)
    return graph


def _first_line(reason: BaseException) -> str:
    text: Any = str(reason).strip().splitlines()
    return text[0] if text else "no message"
