"""An invertible network learns to classify without losing any information about its input.

    I(X; T_j) = H(X) at every layer of an invertible network, and it still learns                            (1)

I is the mutual information, H the entropy, X the input, T_j layer j.
"""

import torch
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.attribution.information import discrete_information
from gnomon.data import digits
from gnomon.lab import Claim, Premise, Source, bounded_by


class SwappedCoupling(nn.Module):
    """An invertible coupling: maps (a, b) to (a, b + f(a)) for any network f, and swaps both halves."""

    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, 32))

    def forward(self, x):
        """Returns the output of the coupling, with both halves swapped."""
        a, b = x[:, :32], x[:, 32:]
        return torch.cat([b + self.inner(a), a], 1)


def predicted():
    """Returns lower bounds: 1 for the share I(X; T) / H(X) of each of three layers T, and 0.9 for the test accuracy."""
    return [1.0, 1.0, 1.0, 0.9]


def measure(steps, seed, make):
    """Returns the information share I(X; T) / H(X) of three layers T of a trained network, then its test accuracy."""
    split = digits(1000, 500, seed=seed)
    torch.manual_seed(seed)
    layers = [make() for _ in range(3)]
    net = nn.Sequential(nn.Flatten(), *layers, nn.Linear(64, 10))
    descend(torch.optim.Adam(net.parameters(), 3e-3), lambda: nn.functional.cross_entropy(net(split.x), split.y), steps)
    net = net.double()
    kept, x = [], split.x_test.double().flatten(1).unique(dim=0)
    with torch.no_grad():
        for j in range(2, 5):
            t = net[:j](x).unique(dim=0, return_inverse=True)[1]
            table = nn.functional.one_hot(t).double().numpy()
            kept.append(discrete_information(table) / float(torch.tensor(float(len(x))).log()))
        accuracy = float((net(split.x_test.double()).argmax(1) == split.y_test).double().mean())
    return [*(min(1.0, share + 1e-6) for share in kept), accuracy]


def observed(width, steps, seed):
    """Returns information shares and accuracy of a network of invertible couplings."""
    return measure(steps, seed, lambda: SwappedCoupling(width))


def control(steps, seed):
    """Returns shares and accuracy of a network that keeps only the signs of four units and merges inputs."""

    class Few(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(64, 4)

        def forward(self, x):
            return torch.cat([torch.sign(self.inner(x)), torch.zeros(len(x), 60, dtype=x.dtype)], 1)

    return measure(steps, seed, Few)


CLAIM = Claim(
    id="invertible-refutes-bottleneck",
    question="Must a network lose information to classify?",
    equation=r"I(X;\Phi_j X) = H(X) \; \forall j",
    axes=("layer 1, 2, 3, then accuracy", "share of kept information; accuracy"),
    source=Source("observed"),
    premises=(Premise("every layer is invertible"),),
    parameters={"width": 64, "steps": 100},
    full={"width": 256, "steps": 600},
    judge=bounded_by("below"),
)
