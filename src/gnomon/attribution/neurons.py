"""Compares the neurons of two networks as distributions, also if the networks have different widths.

    neurons (w_in, b, m^e w_out) of a layer of m units;  sliced Wasserstein distance of the two sets               (1)

Hypotheses: both layers have the same inputs and outputs. Reference: [mei2018mean].

>>> NeuronDistance(0.1, 1.0, (50, 100)).widths
(50, 100)
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed, check_weights
from gnomon.core.results import Result

__all__ = ["NeuronDistance", "neuron_distance"]


@dataclass(frozen=True, slots=True)
class NeuronDistance(Result):
    """Result: the distance between the hidden neurons of two networks, compared with their spread in the first
    network.
    """

    distance: float
    spread: float
    widths: tuple[int, int]

    @property
    def verdict(self) -> str:
        """States how different the neurons of the two networks are."""
        return (
            f"The neurons of the two networks ({self.widths[0]} and {self.widths[1]}) differ: their weight vectors "
            f"have optimal transport distance {self.distance:.3g}, {self.distance / max(self.spread, 1e-300):.1%} of "
            "the spread of the weights."
        )


@add_call_to_errors
def neuron_distance(
    a: nn.Module, b: nn.Module, *, layer: int = 0, exponent: float = 0.5, directions: int = 200, seed: int = 0
) -> NeuronDistance:
    """Measures the distance between two networks' hidden neurons, seen as distributions of weight vectors.

    See equation (1) of the module docstring.

    Args:
        a: a network with at least two linear layers.
        b: another network whose layer has the same inputs and outputs.
        layer: the index of the hidden layer among the linear layers.
        exponent: e of (1): outgoing weights are multiplied by width^e; 1/2 for usual initializations, 1 if the output
            is a mean over neurons.
        directions: the number of random projections.
        seed: random seed of the directions.

    Hypotheses: see the module. Reference: [mei2018mean].
    Cost: a sort of the neurons for each direction.

    >>> net = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1))
    >>> neuron_distance(net, net).distance
    0.0
    """
    power, m = check_number("exponent", exponent), check_integer("directions", directions)
    clouds = [_neurons(net, check_integer("layer", layer, least=0), power) for net in (a, b)]
    if clouds[0].shape[1] != clouds[1].shape[1]:
        found = f"the neurons have {clouds[0].shape[1]} and {clouds[1].shape[1]} weights"
        raise InputError(
            found,
            accepted="layers of the same inputs and outputs",
            fix="Compare networks of equal input and output size",
        )
    generator = torch.Generator().manual_seed(check_seed(seed))
    u = torch.nn.functional.normalize(
        torch.randn(clouds[0].shape[1], m, generator=generator, dtype=torch.float64), dim=0
    )
    grid = (torch.arange(512, dtype=torch.float64) + 0.5) / 512
    rows = [(cloud @ u).sort(0).values[(grid * len(cloud)).long()] for cloud in clouds]
    distance = float((rows[0] - rows[1]).square().mean().sqrt())  # (1)
    spread = float((clouds[0] @ u).var(0, correction=0).mean().sqrt())
    return NeuronDistance(distance, spread, (len(clouds[0]), len(clouds[1])))


def _neurons(net: nn.Module, layer: int, exponent: float) -> Tensor:
    check_weights(net)
    chain = [part for part in net.modules() if isinstance(part, nn.Linear)]
    if layer + 1 >= len(chain):
        found = f"the network has {len(chain)} linear layers"
        raise InputError(found, accepted=f"a layer after number {layer}", fix="Choose another layer")
    w, v = chain[layer], chain[layer + 1].weight.detach().double()
    parts = [w.weight.detach().double(), *([] if w.bias is None else [w.bias.detach().double()[:, None]]),
             v.T * len(w.weight) ** exponent]  # fmt: skip
    return torch.cat(parts, 1)
