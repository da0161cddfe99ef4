"""Networks of the benchmarks, once as torch modules and once in the words of the peer, with one law for both."""

from torch import nn

from gnomon.program import InitializationLaw

WEIGHT, BIAS = 1.4, 0.1
LAW = InitializationLaw(WEIGHT, BIAS)


def dense(depth: int, inputs: int, law: InitializationLaw = LAW):
    layers, words = [], []
    for i in range(depth):
        layers += [nn.Linear(inputs if i == 0 else 512, 512), nn.ReLU()]
        words += [("dense", law.weight_std, law.bias_std), ("relu",)]
    return nn.Sequential(*layers, nn.Linear(512, 1)), [*words, ("dense", law.weight_std, law.bias_std)]


def convolutional(plan: str, side: int, *, flatten: bool = False):
    """``plan`` spells the network: c a 3x3 convolution with ReLU, p a 2x2 average pooling; then GAP or flatten."""
    layers, words, channels = [], [], 3
    for letter in plan:
        if letter == "p":
            layers.append(nn.AvgPool2d(2))
            words.append(("pool",))
            side //= 2
            continue
        layers += [nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU()]
        words += [("conv", WEIGHT, BIAS), ("relu",)]
        channels = 8
    end = (
        [nn.Flatten(), nn.Linear(8 * side * side, 1)]
        if flatten
        else [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1)]
    )
    words += [("flatten",) if flatten else ("gap",), ("dense", WEIGHT, BIAS)]
    return nn.Sequential(*layers, *end), words


MYRTLE = {5: "ccpcpcp", 7: "ccpccpccp", 10: "cccpcccpcccp"}


def evaluations(plan: str, side: int) -> int:
    """Evaluations of the dual per pair: one per pair of positions and nonlinearity."""
    total = 0
    for letter in plan:
        if letter == "p":
            side //= 2
        else:
            total += side**4
    return total
