"""Traces a module: torch.fx records its calls, and every call runs on the meta device to find its output shape.

Layers of torch.nn and self-describing modules stay whole. While it is traced, ``forward`` sees real sizes (``x.dim()``,
``x.shape[1]``), except for the batch size, which stays symbolic; so code that depends on shapes can be traced.
"""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from gnomon.core.errors import GnomonError, InputError, UnsupportedModuleError
from gnomon.core.modules.attention import SelfAttentionModule
from gnomon.core.modules.tied import TiedAffineModule
from gnomon.program.pretrained import classes, is_bert, of_bert, refuse_transformers
from gnomon.program.shapes import output_like, output_of_zeros

__all__ = ["REPARAMETRIZATION_HOOKS", "attribute_at", "global_hooks", "has_hooks", "trace"]

MODULE_CALL = nn.Module.__call__
MODULE_GETATTR = nn.Module.__getattr__
REPARAMETRIZATION_HOOKS = (SpectralNorm, WeightNorm)
"""Hooks that compute a weight from other parameters; the reader handles them itself."""
TRACE_BATCH_SIZE = 11
"""Batch size of the shape run: a prime, so that no reshape confuses it with a product of other sizes."""


def passes_messages(module: Any) -> bool:
    """Whether a module is a message-passing layer in the style of PyTorch Geometric.

    >>> passes_messages(nn.Linear(1, 1))
    False
    """
    parts = ("propagate", "message", "aggr_module")
    return isinstance(module, nn.Module) and all(hasattr(module, name) for name in parts)


class Shaped(fx.Proxy):
    """A torch.fx proxy that knows the shape of the tensor for which it stands."""

    @property
    def shape(self) -> Any:
        """The sizes of the traced tensor's dimensions; the batch size stays symbolic."""
        return self.size()

    @property
    def ndim(self) -> int:
        """The number of dimensions of the traced tensor."""
        return len(self._tensor().shape)

    def dim(self) -> int:
        """Returns the number of dimensions of the traced tensor."""
        return self.ndim

    def ndimension(self) -> int:
        """Returns the number of dimensions of the traced tensor."""
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """Returns the size of one dimension of the traced tensor, or of all dimensions; the batch size stays
        symbolic.
        """
        sizes = tuple(self._tensor().shape)
        if dim is None:
            return tuple(self.size(i) for i in range(len(sizes)))
        if sizes[dim] == TRACE_BATCH_SIZE and dim % len(sizes) == 0:
            return self.tracer.create_proxy("call_method", "size", (self, 0), {})
        return sizes[dim]

    def _tensor(self) -> Tensor:
        value = self.node.meta["result"]
        if not isinstance(value, Tensor):
            raise TypeError(f"{self.node.name} is not a tensor")
        return value


class Unhooked(nn.Module):
    """Runs a layer without its hooks, to find the shape of its output."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.training = layer.training

    def forward(self, *args: Any, **options: Any) -> Any:
        """Calls the layer's own forward method, which skips hooks."""
        return self.layer.forward(*args, **options)


class Tracer(fx.Tracer):
    """A torch.fx tracer that does not look inside layers that gnomon converts, or rejects, as a whole."""

    def __init__(self, example: Tensor) -> None:
        super().__init__(autowrap_modules=())  # type: ignore[arg-type]
        self.example = example

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is converted as a whole: a layer of torch.nn, a class that inherits such a forward, or a
        known module.
        """
        inherited = getattr(type(m).forward, "__module__", "").startswith("torch.nn") and not isinstance(
            m, nn.Sequential
        )
        whole = isinstance(m, SelfAttentionModule | TiedAffineModule) or passes_messages(m) or is_bert(m)
        return inherited or whole or super().is_leaf_module(m, module_qualified_name)

    def create_proxy(self, *args: Any, **options: Any) -> fx.Proxy:
        """Records a call, and runs it on the meta device to find its shape."""
        proxy = super().create_proxy(*args, **options)
        if proxy.node.op != "output":
            find_result(proxy.node, self.root, self.example)
        return proxy

    def proxy(self, node: fx.Node) -> fx.Proxy:
        """Returns a torch.fx proxy that knows the shape of its tensor."""
        return Shaped(node, self)


def trace(module: nn.Module, example: Tensor) -> fx.Graph:
    """Returns the calls of ``module.forward`` on inputs like ``example``; ``node.meta["result"]`` has the shapes.

    Hypotheses: forward is a fixed sequence of calls; it does not branch on the values of tensors.
    Cost: one execution on the meta device, no arithmetic.

    >>> len(trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), torch.zeros(1, 2)).nodes)
    4
    """
    _refuse_replaced(module)
    _refuse_hooks(module)
    refuse_transformers(module)
    tracer = Tracer(example)
    tracer.root = module
    try:
        graph = _single(module) if tracer.is_leaf_module(module, "") else tracer.trace(module)
        for node in graph.nodes:
            find_result(node, module, example)
        return graph
    except GnomonError:
        raise
    # The user's forward may raise any error, which becomes the reason why the module is refused.
    except (Exception, SystemExit) as reason:
        raise UnsupportedModuleError(
            f"forward cannot be traced: {type(reason).__name__}: {_first_line(reason)}",
            reason="forward is a fixed sequence of calls on tensors",
            fix="Remove branches on tensor values from forward, or estimate: gnomon.sampled_limit(net, draws=64)",
        ) from reason


def _refuse_replaced(module: nn.Module) -> None:
    """Raises an error if the forward method was replaced on an object, because the tracer uses the method of the
    class.
    """
    for path, part in module.named_modules():
        if "forward" in vars(part):
            raise UnsupportedModuleError(
                f"{path or 'the module'} ({type(part).__name__}) has a forward that was set on the object",
                reason="forward is defined in the class",
                fix="Subclass the module and define forward there, or estimate: gnomon.sampled_limit(net, draws=64)",
            )


def has_hooks(part: nn.Module) -> bool:
    """Whether a module has hooks that may change its inputs or outputs (backward hooks do not).

    >>> layer = nn.Linear(1, 1)
    >>> _ = layer.register_full_backward_hook(lambda module, inward, outward: None)
    >>> has_hooks(layer)
    False
    """
    hooks = (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
    return any(not isinstance(hook, REPARAMETRIZATION_HOOKS) for hook in hooks)


def global_hooks() -> tuple[Any, ...]:
    """Returns the forward hooks that apply to all modules.

    >>> global_hooks()
    ()
    """
    every = nn.modules.module
    return (*every._global_forward_hooks.values(), *every._global_forward_pre_hooks.values())


def _refuse_hooks(module: nn.Module) -> None:
    """Raises an error if a module has forward hooks, because converting the module to a program would ignore them."""
    parts = [f"{path!r} ({type(part).__name__})" for path, part in module.named_modules() if has_hooks(part)]
    if parts or global_hooks():
        raise UnsupportedModuleError(
            f"{parts[0] if parts else 'every module'} has a forward hook, which may change what it returns",
            reason="the module has no forward hooks",
            fix="Remove the hook, write what it does into forward, or estimate: gnomon.sampled_limit(net, draws=64)",
        )


def find_result(node: fx.Node, root: nn.Module, example: Tensor) -> None:
    """Runs a graph node on the meta device, once, and stores its result, which has the output shape."""
    if "result" in node.meta or node.op == "output":
        return
    for source in node.all_input_nodes:
        find_result(source, root, example)
    if node.op == "placeholder":
        first = next(iter(node.graph.nodes)) is node  # The first argument is the network's input, even with a default.
        node.meta["result"] = _batch(root, example) if first or not node.args else node.args[0]
    elif node.op == "get_attr":
        with _plain():
            value = attribute_at(root, str(node.target))
        node.meta["result"] = value.to("meta") if isinstance(value, Tensor) else value
    elif of_bert(node, root):
        node.meta["result"] = node.all_input_nodes[0].meta["result"]
    elif node.op == "call_module" and (made := _lookup(root.get_submodule(str(node.target)), node)) is not None:
        node.meta["result"] = made
    else:
        node.meta["result"] = _run(node, root)


def _lookup(module: nn.Module, node: fx.Node) -> Tensor | None:
    """Returns a module's output shape by formula, without running the module on the meta device; None if not
    possible.
    """
    if is_bert(module):
        config: Any = module.config
        return torch.empty((TRACE_BATCH_SIZE, classes(module) or config.hidden_size), device="meta")
    first = node.all_input_nodes[0].meta["result"] if node.all_input_nodes else None
    if isinstance(first, Tensor) and len(node.args) == 1 and not node.kwargs:
        with _plain():
            made = output_like(module, first)
        if made is not None:
            return made
    outputs = getattr(module, "out_channels", None)
    if passes_messages(module) and isinstance(first, Tensor) and isinstance(outputs, int):
        return torch.empty((*first.shape[:-1], outputs), device="meta")
    return None


def function_of(node: fx.Node, root: nn.Module) -> Callable[..., Any]:
    """Returns the operation of a graph node as a function of tensors, with layer parameters on the meta device."""
    if node.op == "call_module":
        layer = Unhooked(root.get_submodule(str(node.target)))
        state = {k: v.to("meta") for k, v in (*layer.named_parameters(), *layer.named_buffers())}
        return lambda *args, **options: functional_call(layer, state, args, options)
    if node.op == "call_method":
        return getattr(torch.Tensor, str(node.target))
    return node.target  # type: ignore[return-value]


def where(node: fx.Node) -> str:
    """Returns the place of a graph node: the path of its layer, or of the module whose forward calls the function."""
    if node.op == "call_module":
        return str(node.target)
    stack = node.meta.get("nn_module_stack")
    path = list(stack.values())[-1][0] if stack else ""
    return f"{path}:{node.name}" if path else node.name


def attribute_at(root: nn.Module, path: str) -> Any:
    """Returns the attribute at a dotted path below a module.

    >>> attribute_at(nn.Sequential(nn.Linear(1, 2)), "0.bias").shape
    torch.Size([2])
    """
    owner: Any = root
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


def _plain() -> Any:
    """Restores the methods of nn.Module that torch.fx replaces during tracing."""
    return patch.multiple(nn.Module, __call__=MODULE_CALL, __getattr__=MODULE_GETATTR)


def _run(node: fx.Node, root: nn.Module) -> Any:
    args, options = fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["result"])
    target = Unhooked(root.get_submodule(str(node.target))) if node.op == "call_module" else node.target
    try:
        with _plain():
            found = output_of_zeros(target.layer if isinstance(target, Unhooked) else target, args, options)
        if found is not None:
            return found
        with torch.no_grad(), _plain():
            return function_of(node, root)(*args, **options)
    except (Exception, SystemExit) as reason:
        if "pack_padded_sequence" in str(node.target):
            found = "forward packs sequences (pack_padded_sequence), and packed sequences are not tensors"
            fix = "Run the layer on padded sequences and take each last state: h[torch.arange(len(x)), lengths - 1]"
            raise UnsupportedModuleError(found, reason="calls take tensors", fix=fix) from reason
        sources = [n.meta["result"] for n in node.all_input_nodes]
        sizes = [f"(n, {', '.join(map(str, s.shape[1:]))})" for s in sources if isinstance(s, Tensor)]
        raise InputError(
            f"'{where(node)}' cannot take inputs of shape {' and '.join(sizes)}: {_first_line(reason)}",
            accepted="inputs of the shape that the module takes, batch first",
            fix="Check the feature size and layout of x: vectors (n, d), sequences and images as torch.nn takes them",
        ) from reason


def _batch(root: nn.Module, example: Tensor) -> Tensor:
    """Returns an empty input in the shape of the example and the dtype of the module, for finding shapes only."""
    kinds = (p.dtype for p in root.parameters() if p.is_floating_point())
    dtype = next(kinds, example.dtype) if example.is_floating_point() else example.dtype
    return torch.empty((TRACE_BATCH_SIZE, *example.shape[1:]), dtype=dtype, device="meta")


def _single(module: nn.Module) -> fx.Graph:
    """Returns a torch.fx graph with one call, for a module that is a single layer."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.create_node("call_module", "", (x,), {}, type(module).__name__.lower()))
    return graph


def _first_line(reason: BaseException) -> str:
    text = str(reason).strip().splitlines()
    return text[0] if text else "no message"
