"""Times of instruments as multiples of a forward-backward pass over the same examples, on four networks.

    PYTHONPATH=. python benchmarks/bench_passes.py [--model cnn resnet transformer gpt2] [--part instruments sharpness]

Every instrument is compared with a plain loop of the passes that its algorithm needs, written by hand; the overhead is
the ratio of both. The second table compares `sharpness(accuracy=0.01)` with power iteration that stops as soon as it is
within one percent of the eigenvalue, which a user does not know. The networks are not trained. Processor time of one
thread, both sides in turn, the smaller of two runs.
"""

import argparse
import time
from functools import partial

import torch
from measure import record
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.attention import SDPBackend, sdpa_kernel

from evaluation.faults.models.images import ResNet18
from evaluation.faults.models.transformers import Transformer
from gnomon import landscape as ls
from gnomon.attribution import gradient, integrated_gradients
from gnomon.robustness.attacks import PGD, attack
from gnomon.tangent import ntk

ACCURACY = 0.01
MOST_PRODUCTS = 60
REFERENCE_PRODUCTS = 30
PRODUCTS, STEPS, POINTS = 5, 10, 10


class GPT2(nn.Module):
    """The architecture of GPT-2 small: 124 million parameters, of which the embedding of tokens is also the head."""

    def __init__(self, vocabulary=50257, width=768, layers=12, heads=12, length=1024):
        super().__init__()
        self.embed, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        nn.init.normal_(self.embed.weight, std=0.02)
        nn.init.normal_(self.position.weight, std=0.01)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        h = self.encoder(self.embed(x) + self.position.weight[: x.shape[1]], mask=mask, is_causal=True)
        return h @ self.embed.weight.T


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def over_tokens(f, y):
    return F.cross_entropy(f.flatten(0, 1), y.flatten())


def problem(name):
    """A network in eval mode, its inputs and targets, and its loss."""
    torch.manual_seed(0)
    labels = partial(torch.randint, 0, 10)
    match name:
        case "cnn":
            return cnn().eval(), torch.rand(64, 1, 28, 28), labels((64,)), F.cross_entropy
        case "resnet":
            return ResNet18().eval(), torch.rand(8, 3, 32, 32), labels((8,)), F.cross_entropy
        case "transformer":
            net = Transformer(vocabulary=2000, width=416, layers=7, classes=10, length=64)
            return net.eval(), torch.randint(0, 2000, (16, 64)), labels((16,)), F.cross_entropy
    x = torch.randint(0, 50257, (2, 33))
    return GPT2().eval(), x[:, :-1], x[:, 1:], over_tokens


def one_pass(net, x, y, loss):
    torch.autograd.grad(loss(net(x), y), list(net.parameters()), allow_unused=True)


def products(net, x, y, loss, count=MOST_PRODUCTS, wanted=None):
    """Plain power iteration with the graph of the gradient kept; returns the eigenvalue and the number of products."""
    with sdpa_kernel(SDPBackend.MATH):  # the only attention with second derivatives
        parameters = list(net.parameters())
        slope = torch.autograd.grad(
            loss(net(x), y), parameters, create_graph=True, materialize_grads=True, allow_unused=True
        )
        v = [torch.randn_like(p) for p in parameters]
        used = 0
        while used < count:
            used += 1
            size = sum(float((u * u).sum()) for u in v) ** 0.5
            v = [u / size for u in v]
            pairs = [(g, u) for g, u in zip(slope, v, strict=True) if g.requires_grad]
            hv = torch.autograd.grad(
                [g for g, _ in pairs], parameters, [u for _, u in pairs], retain_graph=True, materialize_grads=True,
                allow_unused=True,
            )  # fmt: skip
            value = sum(float((u * h).sum()) for u, h in zip(v, hv, strict=True))
            v = list(hv)
            if wanted is not None and abs(value / wanted - 1) <= ACCURACY:
                break
    return value, used


def input_slopes(net, x, y, loss, count):
    """As many gradients with respect to the inputs as a loop needs, with frozen parameters."""
    for p in net.parameters():
        p.requires_grad_(False)
    z = x.clone().requires_grad_()
    for _ in range(count):
        torch.autograd.grad(net(z).gather(1, y[:, None]).sum(), z)
    for p in net.parameters():
        p.requires_grad_(True)


def forwards(net, x, y, loss, count):
    with torch.no_grad():
        for _ in range(count):
            loss(net(x), y)


def single_gradients(net, x, y, loss):
    """One gradient of the first output for each example, and the products between all of them."""
    rows = []
    for one in x:
        f = net(one[None])
        parts = torch.autograd.grad(f.flatten()[0], list(net.parameters()), allow_unused=True, materialize_grads=True)
        rows.append(torch.cat([p.flatten() for p in parts]))
    rows = torch.stack(rows)
    return rows @ rows.T


def instruments(net, x, y, loss):
    """Name, what gnomon runs, and the plain loop."""
    data, given = (x, y), (net, x, y, loss)
    yield (
        "Hessian, 5 products",
        lambda: ls.hessian(net, data, loss=loss).top(1, iterations=PRODUCTS),
        partial(products, *given, PRODUCTS),
    )
    if x.is_floating_point():
        count = POINTS + 1
        yield "gradient of inputs", lambda: gradient(net, x, y), partial(input_slopes, *given, 1)
        yield (
            "integrated gradients, 10 points",
            lambda: integrated_gradients(net, x, y, path_points=POINTS),
            partial(input_slopes, *given, count),
        )
        yield (
            "PGD, 10 steps",
            lambda: attack(net, data, eps=0.03, method=PGD(STEPS)),
            partial(input_slopes, *given, STEPS),
        )
    yield (
        "loss along a direction, 7 points",
        lambda: ls.loss_along(net, data, loss=loss, points=7),
        partial(forwards, *given, 7),
    )
    if net(x[:1]).dim() == 2:
        few = x[:8]
        first = nn.Sequential(net, FirstOutput())
        yield "tangent kernel, 8 examples", lambda: ntk(first, few), partial(single_gradients, net, few, y, loss)


class FirstOutput(nn.Module):
    def forward(self, f):
        return f[:, :1]


def seconds(function) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def both(mine, plain, repetitions=2):
    found = [(seconds(mine), seconds(plain)) for _ in range(repetitions)]
    return min(a for a, _ in found), min(b for _, b in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="*", default=["cnn", "resnet", "transformer", "gpt2"])
    parser.add_argument("--part", nargs="*", default=["instruments", "sharpness"])
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    rows, curvature = [], []
    for name in chosen.model:
        given = problem(name)
        net, x, y, loss = given
        count = sum(p.numel() for p in net.parameters())
        one_pass(*given)
        one = min(seconds(partial(one_pass, *given)) for _ in range(3))
        label = f"{name}, {count / 1e6:.1f} million, {len(x)} examples"
        for what, mine, plain in instruments(*given) if "instruments" in chosen.part else ():
            try:
                a, b = both(mine, plain)
            except Exception as reason:
                rows.append([label, what, "-", "-", "-", f"{type(reason).__name__}: {reason}".splitlines()[0][:80]])
            else:
                rows.append([label, what, f"{a:.2f} s", f"{a / one:.1f}", f"{b / one:.1f}", f"{a / b:.2f}x"])
            print(" | ".join(rows[-1]), flush=True)
        if "sharpness" in chosen.part:
            exact = ls.sharpness(net, (x, y), loss=loss, iterations=REFERENCE_PRODUCTS).value
            found = []

            def ask(found=found, net=net, x=x, y=y, loss=loss):
                found.append(ls.sharpness(net, (x, y), loss=loss, accuracy=ACCURACY))

            def iterate(found=found, given=given, exact=exact):
                torch.manual_seed(1)
                found.append(products(*given, wanted=exact))

            a, b = both(ask, iterate, 1)
            mine, (value, steps) = found
            curvature.append(
                [label, f"{mine.products}", f"{abs(mine.value / exact - 1):.2%}", f"{a:.2f} s", f"{steps}",
                 f"{abs(value / exact - 1):.2%}", f"{b:.2f} s", f"{b / a:.2f}x"]
            )  # fmt: skip
            print(" | ".join(curvature[-1]), flush=True)
    note = "Passes: forward and backward over the same examples. Plain: a loop of the passes that the algorithm needs."
    columns = ["network", "instrument", "time", "passes", "plain: passes", "overhead"]
    if rows:
        record("instruments", "Instruments in forward-backward passes", columns, rows, note)
    columns = [
        "network",
        "products",
        "error",
        "sharpness",
        "products, power iteration",
        "its error",
        "its time",
        "ratio",
    ]
    note = f"`sharpness(accuracy=0.01)`; reference: {REFERENCE_PRODUCTS} products. At most {MOST_PRODUCTS} products."
    if curvature:
        record("curvature", "Sharpness compared with power iteration", columns, curvature, note)


if __name__ == "__main__":
    main()
