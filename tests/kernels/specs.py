"""From the spec of a reference file to a plain torch module and its laws."""

import json
import math

import numpy as np
import torch
from torch import nn

from gnomon import InitializationLaw
from gnomon.models import SelfAttention

WIDTH = 16


class Elementwise(nn.Module):
    """A function as a module, as users write it."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


class Branch(nn.Module):
    def __init__(self, left, right):
        super().__init__()
        self.left, self.right = left, right

    def forward(self, x):
        return self.left(x) + self.right(x)


class ChannelsLastNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels, elementwise_affine=False, eps=1e-12)

    def forward(self, x):
        return self.norm(x.movedim(1, -1)).movedim(-1, 1)


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.inner = SelfAttention(channels, heads=4)

    def forward(self, x):
        return self.inner(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(x.shape)


class CircularPool(nn.Module):
    """Average pooling with periodic windows."""

    def __init__(self, kernel, stride, shape):
        super().__init__()
        self.kernel, self.stride = tuple(kernel), tuple(stride)
        self.pads = [
            w for pair in reversed([same_pads(*a) for a in zip(shape, kernel, stride, strict=True)]) for w in pair
        ]

    def forward(self, x):
        pool = nn.functional.avg_pool1d if x.dim() == 3 else nn.functional.avg_pool2d
        return pool(nn.functional.pad(x, self.pads, mode="circular"), self.kernel, self.stride)


ELEMENTWISE = {
    "relu": nn.ReLU,
    "abs": lambda: Elementwise(torch.abs),
    "erf": lambda: Elementwise(torch.erf),
    "gelu": nn.GELU,
    "sin": lambda: Elementwise(torch.sin),
    "cos": lambda: Elementwise(lambda x: x.cos()),
    "gaussian": lambda: Elementwise(lambda x: torch.exp(-(x**2))),
    "sigmoid_like": lambda: Elementwise(lambda x: torch.erf(x / 2.4020563531719796) / 2 + 0.5),
}


def same_pads(size, kernel, stride):
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def load(path):
    """Inputs in torch's layout, the module, its laws, and the reference kernels."""
    with np.load(path, allow_pickle=False) as held:
        spec = json.loads(str(held["spec"]))
        x1, x2 = (torch.tensor(np.moveaxis(held[k], -1, 1).copy(), dtype=torch.float64) for k in ("x1", "x2"))
        wanted = {k: torch.tensor(held[k]) for k in ("nngp", "ntk", "nngp_sym", "ntk_sym")}
    laws = {}
    net, _, _ = build(spec, x1.shape[1], list(x1.shape[2:]), laws, "")
    return x1, x2, net, laws, wanted


def build(spec, channels, shape, laws, prefix):
    """An nn.Sequential for a list of ops; fills ``laws`` by module path."""
    modules = []
    for op, args in spec:
        path = f"{prefix}{len(modules)}"
        made, channels, shape = layer(op, args, channels, shape, laws, path)
        modules.append(made)
    return nn.Sequential(*modules), channels, shape


def layer(op, args, channels, shape, laws, path):
    if op in ELEMENTWISE:
        return ELEMENTWISE[op](), channels, shape
    match op:
        case "dense":
            laws[path] = InitializationLaw(args["w"], args["b"])
            return nn.Linear(channels, WIDTH), WIDTH, shape
        case "conv":
            return convolution(args, channels, shape, laws, path)
        case "leaky":
            return nn.LeakyReLU(args["slope"]), channels, shape
        case "monomial":
            degree = args["degree"]
            return Elementwise(lambda x: x**degree), channels, shape
        case "layernorm":
            plain = nn.LayerNorm(channels, elementwise_affine=False, eps=1e-12)
            return ChannelsLastNorm(channels) if shape else plain, channels, shape
        case "avgpool":
            return pooling(args, channels, shape)
        case "gap":
            return Elementwise(lambda x: x.mean(tuple(range(2, x.dim())))), channels, []
        case "flatten":
            return nn.Flatten(), channels * math.prod(shape), []
        case "dropout":
            return nn.Dropout(1 - args["keep"]), channels, shape
        case "residual":
            return Residual(build(args["body"], channels, shape, laws, f"{path}.body.")[0]), channels, shape
        case "branch":
            left, right = (build(args[k], channels, shape, laws, f"{path}.{k}.") for k in ("left", "right"))
            return Branch(left[0], right[0]), left[1], left[2]
        case "attention":
            laws[f"{path}.inner.query_key"] = InitializationLaw(math.sqrt(args["wq"] * args["wk"]))
            laws[f"{path}.inner.value"], laws[f"{path}.inner.out"] = (
                InitializationLaw(args["wv"]),
                InitializationLaw(args["wo"]),
            )
            return Attention(channels), channels, shape
    raise KeyError(op)


def convolution(args, channels, shape, laws, path):
    kind = nn.Conv1d if len(shape) == 1 else nn.Conv2d
    kernel, stride = args["k"], args.get("s") or [1] * len(shape)
    padding = args.get("pad", "SAME")
    if padding == "VALID":
        laws[path] = InitializationLaw(args["w"], args["b"])
        return (
            kind(channels, WIDTH, kernel, stride),
            WIDTH,
            [(n - k) // s + 1 for n, k, s in zip(shape, kernel, stride, strict=True)],
        )
    pads = [same_pads(*a) for a in zip(shape, kernel, stride, strict=True)]
    mode = "circular" if padding == "CIRCULAR" else "zeros"
    after = [math.ceil(n / s) for n, s in zip(shape, stride, strict=True)]
    if all(a == b for a, b in pads):
        laws[path] = InitializationLaw(args["w"], args["b"])
        return kind(channels, WIDTH, kernel, stride, [a for a, _ in pads], padding_mode=mode), WIDTH, after
    flat = [w for pair in reversed(pads) for w in pair]
    fill = {"zeros": "constant", "circular": "circular"}[mode]
    laws[f"{path}.1"] = InitializationLaw(args["w"], args["b"])
    pad = Elementwise(lambda x: nn.functional.pad(x, flat, mode=fill))
    return nn.Sequential(pad, kind(channels, WIDTH, kernel, stride)), WIDTH, after


def pooling(args, channels, shape):
    kernel, stride = args["k"], args.get("s") or args["k"]
    kind = nn.AvgPool1d if len(shape) == 1 else nn.AvgPool2d
    one = (lambda v: v[0]) if len(shape) == 1 else tuple
    if args.get("pad", "VALID") == "VALID":
        after = [(n - k) // s + 1 for n, k, s in zip(shape, kernel, stride, strict=True)]
        return kind(one(kernel), one(stride)), channels, after
    pads = [same_pads(*a) for a in zip(shape, kernel, stride, strict=True)]
    after = [math.ceil(n / s) for n, s in zip(shape, stride, strict=True)]
    if args["pad"] == "SAME" and all(a == b for a, b in pads):
        return kind(one(kernel), one(stride), one([a for a, _ in pads])), channels, after
    if args["pad"] != "CIRCULAR":
        raise KeyError(args["pad"])
    return CircularPool(kernel, stride, shape), channels, after
