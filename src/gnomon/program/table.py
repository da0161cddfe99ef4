"""Lists, for each name of a layer or function, the function that converts it to program steps.

Adding a layer adds a line here and a function in the file of its kind.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from gnomon.core.modules.attention import SelfAttentionModule
from gnomon.core.modules.tied import TiedAffineModule
from gnomon.program.affine import convolution, linear
from gnomon.program.attention import self_attention
from gnomon.program.bert import bert
from gnomon.program.branches import concatenate
from gnomon.program.builder import Builder
from gnomon.program.elementwise import ARITHMETIC, FUNCTIONS, MODULES, activation_module, elementwise, prelu
from gnomon.program.encoder import encoder, encoder_layer
from gnomon.program.geometric import messages
from gnomon.program.mixing import product, select_by_data
from gnomon.program.moves import expand, permute, reshape, take
from gnomon.program.multihead import multihead
from gnomon.program.normalization import batch_norm, dropout, group_norm, layer_norm
from gnomon.program.pooling import adaptive_average_pool, average_pool, mean, pad, upsample
from gnomon.program.pretrained import is_bert, of_bert
from gnomon.program.recurrent import recurrent
from gnomon.program.refused import REFUSED
from gnomon.program.tied import tied_convolution
from gnomon.program.tokens import embedding
from gnomon.program.trace import passes_messages
from gnomon.program.transposed import transposed_convolution
from gnomon.program.values import Call, Fixed, Parameter, Random

Reader = Callable[[Builder, Call], Any]

LAYERS: dict[type[nn.Module], Reader] = {
    nn.Linear: linear,
    nn.Conv1d: convolution,
    nn.Conv2d: convolution,
    nn.Conv3d: convolution,
    nn.ConvTranspose1d: transposed_convolution,
    nn.ConvTranspose2d: transposed_convolution,
    nn.ConvTranspose3d: transposed_convolution,
    nn.RNN: recurrent,
    nn.Embedding: embedding,
    nn.MultiheadAttention: multihead,
    nn.TransformerEncoderLayer: encoder_layer,
    nn.TransformerEncoder: encoder,
    nn.AvgPool1d: average_pool,
    nn.AvgPool2d: average_pool,
    nn.AvgPool3d: average_pool,
    nn.AdaptiveAvgPool1d: adaptive_average_pool,
    nn.AdaptiveAvgPool2d: adaptive_average_pool,
    nn.AdaptiveAvgPool3d: adaptive_average_pool,
    nn.Upsample: upsample,
    nn.LayerNorm: layer_norm,
    nn.RMSNorm: layer_norm,
    nn.GroupNorm: group_norm,
    nn.BatchNorm1d: batch_norm,
    nn.BatchNorm2d: batch_norm,
    nn.BatchNorm3d: batch_norm,
    nn.Dropout: dropout,
    nn.PReLU: prelu,
    nn.Flatten: reshape,
    nn.Unflatten: reshape,
    nn.ZeroPad1d: pad,
    nn.ZeroPad2d: pad,
    nn.ZeroPad3d: pad,
    nn.ConstantPad1d: pad,
    nn.ConstantPad2d: pad,
    nn.ConstantPad3d: pad,
    nn.CircularPad1d: pad,
    nn.CircularPad2d: pad,
    nn.CircularPad3d: pad,
    nn.ReflectionPad1d: pad,
    nn.ReflectionPad2d: pad,
    nn.ReflectionPad3d: pad,
    nn.ReplicationPad1d: pad,
    nn.ReplicationPad2d: pad,
    nn.ReplicationPad3d: pad,
    **dict.fromkeys(MODULES, activation_module),
}

CALLS: dict[str, Reader] = {
    "linear": linear,
    "matmul": product,
    "bmm": product,
    "mm": product,
    "conv1d": convolution,
    "conv2d": convolution,
    "conv3d": convolution,
    "avg_pool1d": average_pool,
    "avg_pool2d": average_pool,
    "avg_pool3d": average_pool,
    "adaptive_avg_pool1d": adaptive_average_pool,
    "adaptive_avg_pool2d": adaptive_average_pool,
    "adaptive_avg_pool3d": adaptive_average_pool,
    "interpolate": upsample,
    "mean": mean,
    "sum": mean,
    "cat": concatenate,
    "concat": concatenate,
    "dropout": dropout,
    "pad": pad,
}

RESHAPES = frozenset("reshape view flatten unflatten squeeze unsqueeze ravel reshape_as view_as".split())
PERMUTES = frozenset("permute transpose movedim moveaxis swapaxes swapdims t".split())
TAKES = frozenset("getitem narrow select flip roll chunk split unbind index_select".split())
SAME = frozenset("contiguous clone float double to type Identity dropout_eval alpha_identity".split())


def name_of(node: fx.Node, module: nn.Module | None) -> str:
    """Returns the name under which a graph node is looked up: the class of a layer, or the plain name of a function."""
    if module is not None:
        return type(module).__name__
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    if getattr(node.target, "__module__", "") == "_operator":
        name = {
            "truediv": "div",
            "iadd": "add",
            "isub": "sub",
            "imul": "mul",
            "itruediv": "div",
            "matmul": "matmul",
        }.get(name, name)
        if node.args and not isinstance(node.args[0], fx.Node):  # 1 - x
            name = name.removeprefix("r")
    plain = name if name.startswith("__") else name.rstrip("_")
    return {
        "true_divide": "div",
        "divide": "div",
        "multiply": "mul",
        "subtract": "sub",
        "absolute": "abs",
        "arctan": "atan",
        "negative": "neg",
        "concatenate": "cat",
    }.get(plain, plain)


def describe(b: Builder, call: Call, function: Callable[..., Any]) -> Any:
    """Converts a traced call to program steps by the function listed for it; calls on data alone stay data."""
    operands = _operands(call)
    if not any(isinstance(a, Random | Parameter) for a in operands) and not _has_parameters(call):
        return _data(b, call)
    if isinstance(call.module, SelfAttentionModule):
        return self_attention(b, call)
    if passes_messages(call.module):
        return messages(b, call)
    if is_bert(call.module):
        return bert(b, call)
    if isinstance(call.module, TiedAffineModule):
        return tied_convolution(b, call)
    if call.module is not None:
        kind = next((c for c in type(call.module).__mro__ if c in LAYERS), None)
        if kind is not None and type(call.module).forward is kind.forward:
            return LAYERS[kind](b, call)
        if isinstance(call.module, nn.Identity):
            return call.args[0]
    if call.name in SAME or of_bert(call.node, b.root):
        return call.args[0]
    if call.name in REFUSED:
        reason = REFUSED[call.name]
        raise b.refuse(call, reason.found, reason.hypothesis, reason.fix)
    if call.name in CALLS:
        return CALLS[call.name](b, call)
    if call.name in ARITHMETIC or call.name in FUNCTIONS:
        return elementwise(b, call)
    return _move(b, call, function)


def _move(b: Builder, call: Call, function: Callable[..., Any]) -> Any:
    first = call.args[0] if call.args else None
    if isinstance(first, Parameter) and call.name in PERMUTES and first.tensor.dim() == 2:
        return Parameter(first.path, first.tensor, not first.transposed)
    if isinstance(first, Parameter) and call.name in ("expand", "repeat", "expand_as"):
        return first  # All samples share this parameter. The function that uses it counts the positions.
    if isinstance(first, tuple | list) and call.name == "getitem":
        return first[call.args[1]]
    if isinstance(first, Random):
        if call.name in RESHAPES:
            return reshape(b, call)
        if call.name in PERMUTES:
            return permute(b, call, function)
        if call.name in TAKES:
            picked = select_by_data(b, call) if call.name == "getitem" else None
            return take(b, call, function) if picked is None else picked
        if call.name in ("expand", "expand_as"):
            return expand(b, call)
    raise b.unread(call, "is not supported")


def _data(b: Builder, call: Call) -> Any:
    """Treats a call whose arguments are only data as preprocessing; raises an error if it is nonlinear or random."""
    if isinstance(call.module, MODULES):
        return activation_module(b, call)
    if call.name in FUNCTIONS:
        return elementwise(b, call)
    if call.name in ("Dropout", "dropout"):
        return dropout(b, call)
    if isinstance(call.module, nn.modules.batchnorm._BatchNorm):
        return batch_norm(b, call)
    if isinstance(call.result, torch.Tensor):
        return Fixed(call.node, call.shape)
    raise b.unread(call, "splits the data into several tensors before the first layer")


def _has_parameters(call: Call) -> bool:
    return call.module is not None and any(True for _ in call.module.parameters())


def _operands(call: Call) -> list[Any]:
    flat: list[Any] = []
    for a in (*call.args, *call.options.values()):
        flat.extend(a if isinstance(a, tuple | list) else [a])
    return flat
