"""The infinite-width kernels of a feed-forward network by explicit loops, one pair of inputs at a time.

A network is a list of [op, args]; `spec_of` writes one for an nn.Sequential. Inputs are torch's: (d,), (c, t) or
(c, h, w) for one point. For a pair (x, y) the recursion carries four tables of floats over all pairs of positions
(p, q): the second moments kxx, kyy, kxy of the activations and the tangent kernel txy. A vector has one position.

    affine   k -> w^2 mean_taps k[p + o, q + o] + b^2,      zero outside a zero-padded image       (1)
             t -> w^2 mean_taps t[p + o, q + o] + g
             g = w^2 mean_taps k + b^2                      ("ntk": unit weights times w / sqrt(fan_in), biases times b)
             g = fan_in mean_taps k + (1 with a bias)       ("standard": gradients of the weights as they are)
    phi      k -> E[phi(u) phi(v)],  t -> t E[phi'(u) phi'(v)],   (u, v) ~ N(0, [[kxx, kxy], [kxy, kyy]])  (2)
    pool     both -> mean over both windows; flatten: mean over equal positions (the next layer is dense)      (3)

The Gaussian expectations are sums over a plane grid for smooth phi, and Cho and Saul's arc-cosine formulas for
piecewise linear ones. Slow on purpose; shares nothing with the package.

>>> import math
>>> spec = [["dense", {"w": 2**0.5, "b": 0.0}], ["relu", {}], ["dense", {"w": 1.0, "b": 0.0}]]
>>> nngp, ntk = pair(spec, [1.0, 1.0], [1.0, -1.0])            # orthogonal, mean square 1
>>> math.isclose(nngp, 1 / math.pi), math.isclose(ntk, 1 / math.pi)
(True, True)
"""

import math
from itertools import product

import numpy as np
import torch
from torch import nn

ROOT2, ROOT_PI = math.sqrt(2), math.sqrt(math.pi)
SIGMOID_LIKE = 2.4020563531719796


def kernels(spec, x1, x2=None, parametrization="ntk"):
    """NNGP and NTK of every pair of x1 and x2 (x1 again where x2 is None), as two float64 arrays."""
    second = x1 if x2 is None else x2
    pairs = [
        [pair(spec, x, y, parametrization, x2 is None and i == j) for j, y in enumerate(second)]
        for i, x in enumerate(x1)
    ]
    both = np.array(pairs)
    return both[..., 0], both[..., 1]


def pair(spec, x, y, parametrization="ntk", same=False):
    """NNGP and NTK of one pair; ``same`` says that y is x itself, in the same forward pass (dropout masks agree)."""
    if parametrization not in ("ntk", "standard"):
        raise ValueError(parametrization)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    shape = x.shape[1:]
    places = list(product(*map(range, shape)))

    def moments(a, b):
        return {(p, q): sum(a[(c, *p)] * b[(c, *q)] for c in range(len(a))) / len(a) for p in places for q in places}

    zero = {(p, q): 0.0 for p in places for q in places}
    tables = run(spec, (shape, moments(x, x), moments(y, y), moments(x, y), zero), parametrization, same)
    if tables[0] != ():
        raise ValueError(f"the network ends with positions {tables[0]}: end it with flatten or gap")
    return tables[3][(), ()], tables[4][(), ()]


def run(spec, tables, parametrization, same):
    """Send (shape, kxx, kyy, kxy, txy) through a list of layers."""
    for op, args in spec:
        if op == "dense":
            tables = affine(tables, {"k": (1,) * len(tables[0]), **args}, parametrization)
        elif op == "conv":
            tables = affine(tables, args, parametrization)
        elif op == "avgpool":
            tables = pool(tables, args)
        elif op == "gap":
            tables = over_positions(tables, lambda k, places: _mean(k[p, q] for p in places for q in places))  # (3)
        elif op == "flatten":
            tables = over_positions(tables, lambda k, places: _mean(k[p, p] for p in places))  # (3)
        elif op in ("residual", "branch"):
            left = run(args["body" if op == "residual" else "left"], tables, parametrization, same)
            right = run([] if op == "residual" else args["right"], tables, parametrization, same)
            added = ({key: a[key] + b[key] for key in a} for a, b in zip(left[1:], right[1:], strict=True))
            tables = (left[0], *added)
        elif op == "layernorm":
            tables = layernorm(tables, args.get("eps", 1e-12))
        elif op == "dropout":
            tables = dropout(tables, args["keep"], same)
        elif op == "attention":
            tables = attention(tables, args)
        else:
            tables = activation(tables, op, args)
    return tables


def affine(tables, args, parametrization):
    """Equation (1); a dense layer is a convolution with one tap."""
    shape, *old = tables
    k = tuple(args["k"])
    s, dilation = tuple(args.get("s", (1,) * len(k))), tuple(args.get("dilation", (1,) * len(k)))
    spans = [1 + (a - 1) * e for a, e in zip(k, dilation, strict=True)]
    pads, wrap = padding(args.get("pad", "SAME"), shape, spans, s)
    new_shape = tuple((n + lo + hi - a) // t + 1 for n, (lo, hi), a, t in zip(shape, pads, spans, s, strict=True))
    w2, b2 = args["w"] ** 2, args["b"] ** 2

    def sources(place):
        """Input position under each tap, or None in the zero padding."""
        found = []
        for tap in product(*map(range, k)):
            at = [i * t - lo + j * e for i, t, (lo, _), j, e in zip(place, s, pads, tap, dilation, strict=True)]
            if wrap:
                at = [a % n for a, n in zip(at, shape, strict=True)]
            found.append(tuple(at) if all(0 <= a < n for a, n in zip(at, shape, strict=True)) else None)
        return found

    under = {place: sources(place) for place in product(*map(range, new_shape))}

    def taps(table):
        out = {}
        for p, q in product(under, under):
            inside = (table[a, b] for a, b in zip(under[p], under[q], strict=True) if a is not None and b is not None)
            out[p, q] = sum(inside) / len(under[p])
        return out

    kxx, kyy, kxy, txy = map(taps, old)
    if parametrization == "ntk":
        own = {key: w2 * kxy[key] + b2 for key in kxy}
    else:
        own = {key: args["fan_in"] * kxy[key] + (1 if args["bias"] else 0) for key in kxy}
    news = ({key: w2 * table[key] + b2 for key in table} for table in (kxx, kyy, kxy))  # (1)
    return new_shape, *news, {key: w2 * txy[key] + own[key] for key in own}


def padding(pad, shape, spans, s):
    """Zeros (or wrapped pixels) before and after each axis; SAME puts the odd one after, CIRCULAR is SAME wrapped."""
    if pad == "VALID":
        return [(0, 0)] * len(shape), False
    if pad in ("SAME", "CIRCULAR"):
        totals = [max((math.ceil(n / t) - 1) * t + a - n, 0) for n, a, t in zip(shape, spans, s, strict=True)]
        return [(total // 2, total - total // 2) for total in totals], pad == "CIRCULAR"
    return [tuple(p) for p in pad["widths"]], pad["wrap"]


def pool(tables, args):
    """Equation (3): the mean over two windows; padded places count as zeros in the mean."""
    shape, *old = tables
    k = tuple(args["k"])
    s = tuple(args.get("s", k))
    pads, wrap = padding(args.get("pad", "VALID"), shape, k, s)
    new_shape = tuple((n + lo + hi - a) // t + 1 for n, (lo, hi), a, t in zip(shape, pads, k, s, strict=True))
    windows = {}
    for place in product(*map(range, new_shape)):
        window = []
        for tap in product(*map(range, k)):
            at = [i * t - lo + j for i, t, (lo, _), j in zip(place, s, pads, tap, strict=True)]
            at = tuple(a % n for a, n in zip(at, shape, strict=True)) if wrap else tuple(at)
            if all(0 <= a < n for a, n in zip(at, shape, strict=True)):
                window.append(at)
        windows[place] = window
    size = math.prod(k) ** 2

    def mean(table):
        pairs = product(windows, windows)
        return {(p, q): sum(table[a, b] for a in windows[p] for b in windows[q]) / size for p, q in pairs}  # (3)

    return new_shape, *map(mean, old)


def over_positions(tables, reduce):
    """Remove the positions: every table becomes one number."""
    places = list(product(*map(range, tables[0])))
    return (), *({((), ()): reduce(table, places)} for table in tables[1:])


def layernorm(tables, eps):
    """Divide by the standard deviation over channels, which is deterministic in the limit."""
    shape, kxx, kyy, kxy, txy = tables

    def divide(table, a, b):
        return {(p, q): v / math.sqrt((a[p, p] + eps) * (b[q, q] + eps)) for (p, q), v in table.items()}

    return shape, divide(kxx, kxx, kxx), divide(kyy, kyy, kyy), divide(kxy, kxx, kyy), divide(txy, kxx, kyy)


def dropout(tables, keep, same):
    """Units kept with probability keep and divided by it: E[mask^2] = 1 / keep where the masks are the same."""
    shape, kxx, kyy, kxy, txy = tables

    def at_equal(table):
        return {(p, q): v / keep if p == q else v for (p, q), v in table.items()}

    return shape, at_equal(kxx), at_equal(kyy), at_equal(kxy) if same else kxy, at_equal(txy) if same else txy


def attention(tables, args):
    """Softmax attention with tied queries and keys, logits over d_k, many heads: the weights are deterministic."""
    shape, kxx, kyy, kxy, txy = tables
    places = list(product(*map(range, shape)))
    wqk, wov2 = args["wq"] * args["wk"], (args["wo"] * args["wv"]) ** 2

    def weights(k):
        rows = {}
        for p in places:
            top = max(wqk * k[p, q] for q in places)
            exps = {q: math.exp(wqk * k[p, q] - top) for q in places}
            rows[p] = {q: exps[q] / sum(exps.values()) for q in places}
        return rows

    gx, gy = weights(kxx), weights(kyy)

    def weigh(table, g, h):
        return {
            (p, q): wov2 * sum(g[p][a] * table[a, b] * h[q][b] for a in places for b in places)
            for p in places
            for q in places
        }

    kxx, kyy, kxy, txy = weigh(kxx, gx, gx), weigh(kyy, gy, gy), weigh(kxy, gx, gy), weigh(txy, gx, gy)
    return shape, kxx, kyy, kxy, {key: txy[key] + 2 * kxy[key] for key in kxy}  # values and output weights


def activation(tables, op, args):
    """Equation (2) at every pair of positions."""
    shape, kxx, kyy, kxy, txy = tables

    def value(table, a, b):
        return {(p, q): dual(op, args, a[p, p], b[q, q], c)[0] for (p, q), c in table.items()}

    slopes = {(p, q): dual(op, args, kxx[p, p], kyy[q, q], c)[1] for (p, q), c in kxy.items()}
    new = value(kxx, kxx, kxx), value(kyy, kyy, kyy), value(kxy, kxx, kyy)
    return shape, *new, {key: txy[key] * slopes[key] for key in txy}  # (2)


def dual(op, args, a, b, c):
    """E[phi(u) phi(v)] and E[phi'(u) phi'(v)] for (u, v) ~ N(0, [[a, c], [c, b]])."""
    if op in ("relu", "leaky", "abs"):
        low = {"relu": 0.0, "abs": -1.0}.get(op, args.get("slope"))  # phi is u for u > 0 and low u below
        return arccosine(low, a, b, c)
    phi, slope = smooth(op, args)
    rho = max(-1.0, min(1.0, c / math.sqrt(a * b))) if a * b > 0 else 0.0
    step = min(0.1, 0.3 / math.sqrt(max(a, b, 1e-300)))  # resolves the poles of tanh at any variance met in tests
    z = torch.arange(-9.0, 9.0 + step, step, dtype=torch.float64)
    weight = torch.exp(-z * z / 2) * step / math.sqrt(2 * math.pi)
    plane = weight[:, None] * weight[None, :]
    u = math.sqrt(a) * z[:, None]
    v = math.sqrt(b) * (rho * z[:, None] + math.sqrt(1 - rho * rho) * z[None, :])
    return float((plane * phi(u) * phi(v)).sum()), float((plane * slope(u) * slope(v)).sum())


def arccosine(low, a, b, c):
    """Cho and Saul's formulas, degrees 1 and 0, summed over the four sign patterns of (u, v)."""
    size = math.sqrt(a * b)
    t = math.atan2(math.sqrt(max((size - c) * (size + c), 0.0)), c)
    agree = size * (math.sin(t) + (math.pi - t) * math.cos(t)) / (2 * math.pi)  # E[relu(u) relu(v)]
    differ = size * (math.sin(t) - t * math.cos(t)) / (2 * math.pi)  # E[relu(u) relu(-v)]
    value = (1 + low * low) * agree - 2 * low * differ
    slope = (1 + low * low) * (math.pi - t) / (2 * math.pi) + 2 * low * t / (2 * math.pi)
    return value, slope


def smooth(op, args):
    """A smooth phi and its derivative, both on tensors."""
    if op == "monomial":
        degree = args["degree"]
        return lambda x: x**degree, lambda x: degree * x ** (degree - 1)
    erf, exp = torch.erf, torch.exp
    table = {
        "identity": (lambda x: x, torch.ones_like),
        "erf": (erf, lambda x: 2 / ROOT_PI * exp(-x * x)),
        "gelu": (
            lambda x: x * (1 + erf(x / ROOT2)) / 2,
            lambda x: (1 + erf(x / ROOT2)) / 2 + x * exp(-x * x / 2) / (ROOT2 * ROOT_PI),
        ),
        "sin": (torch.sin, torch.cos),
        "cos": (torch.cos, lambda x: -torch.sin(x)),
        "gaussian": (lambda x: exp(-x * x), lambda x: -2 * x * exp(-x * x)),
        "sigmoid_like": (
            lambda x: erf(x / SIGMOID_LIKE) / 2 + 0.5,
            lambda x: exp(-((x / SIGMOID_LIKE) ** 2)) / (ROOT_PI * SIGMOID_LIKE),
        ),
        "tanh": (torch.tanh, lambda x: 1 - torch.tanh(x) ** 2),
        "sigmoid": (torch.sigmoid, lambda x: torch.sigmoid(x) * torch.sigmoid(-x)),
        "silu": (
            lambda x: x * torch.sigmoid(x),
            lambda x: torch.sigmoid(x) * (1 + x * torch.sigmoid(-x)),
        ),
        "softplus": (lambda x: torch.logaddexp(x, torch.zeros_like(x)), torch.sigmoid),
    }
    return table[op]


def torch_law(layer):
    """Weight scale w and bias deviation b of torch's default initialization: both uniform within 1 / sqrt(fan_in)."""
    return 1 / math.sqrt(3), 1 / math.sqrt(3 * _fan_in(layer)) if layer.bias is not None else 0.0


def spec_of(net, law=torch_law):
    """The list of layers of an nn.Sequential; ``law(layer)`` gives (w, b) of each affine layer.

    Modules without a counterpart in torch (Erf, Sin, ...) are known by the name of their class.
    """
    spec = []
    for layer in net:
        if isinstance(layer, nn.Sequential):
            spec += spec_of(layer, law)
        elif isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d):
            w, b = law(layer)
            args = {"w": w, "b": b, "fan_in": _fan_in(layer), "bias": layer.bias is not None}
            spec.append(["dense", args] if isinstance(layer, nn.Linear) else ["conv", {**args, **_window(layer)}])
        elif isinstance(layer, nn.AvgPool1d | nn.AvgPool2d):
            if layer.ceil_mode or not layer.count_include_pad or getattr(layer, "divisor_override", None):
                raise NotImplementedError(layer)
            rank = 1 if isinstance(layer, nn.AvgPool1d) else 2
            k, s, p = (_tuple(v, rank) for v in (layer.kernel_size, layer.stride, layer.padding))
            spec.append(["avgpool", {"k": k, "s": s, "pad": {"widths": [(w, w) for w in p], "wrap": False}}])
        elif isinstance(layer, nn.AdaptiveAvgPool1d | nn.AdaptiveAvgPool2d):
            if set(_tuple(layer.output_size, 1)) != {1}:
                raise NotImplementedError(layer)
            spec.append(["gap", {}])
        else:
            spec += _elementwise(layer)
    return spec


def _elementwise(layer):
    name = type(layer).__name__
    plain = "ReLU Flatten Erf Sin Cos Gaussian Sigmoid_like Tanh Sigmoid SiLU Softplus Abs".split()
    if isinstance(layer, nn.Identity):
        return []
    if isinstance(layer, nn.LeakyReLU):
        return [["leaky", {"slope": layer.negative_slope}]]
    if isinstance(layer, nn.Dropout):
        return [["dropout", {"keep": 1 - layer.p}]] if layer.training else []
    if isinstance(layer, nn.GELU) and layer.approximate == "none":
        return [["gelu", {}]]
    if isinstance(layer, nn.LayerNorm) and not layer.elementwise_affine:
        return [["layernorm", {"eps": layer.eps}]]
    if isinstance(layer, nn.Softplus) and (layer.beta != 1 or layer.threshold < 20):
        raise NotImplementedError(layer)
    if name not in plain:
        raise NotImplementedError(layer)
    return [[name.lower(), {}]]


def _window(layer):
    if layer.groups != 1 or layer.padding_mode not in ("zeros", "circular"):
        raise NotImplementedError(layer)
    wrap = layer.padding_mode == "circular"
    if isinstance(layer.padding, str):
        pad = {"same": "CIRCULAR" if wrap else "SAME", "valid": "VALID"}[layer.padding]
    else:
        pad = {"widths": [(p, p) for p in layer.padding], "wrap": wrap}
    return {"k": layer.kernel_size, "s": layer.stride, "dilation": layer.dilation, "pad": pad}


def _fan_in(layer):
    return layer.weight[0].numel()


def _tuple(value, rank):
    return tuple(value) if isinstance(value, tuple | list) else (value,) * rank


def _mean(values):
    values = list(values)
    return sum(values) / len(values)
