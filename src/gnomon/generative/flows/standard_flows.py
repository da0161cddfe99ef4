"""Builds normalizing flows that are ready to train, from coupling or autoregressive maps."""

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.generative.flows.autoregressive import Autoregressive, MaskedNetwork, SplineAutoregressive
from gnomon.generative.flows.base import AbstractTransform, Flow
from gnomon.generative.flows.coupling import Coupling, alternating_mask, coupling_network
from gnomon.generative.flows.mixing import InvertibleMixing
from gnomon.generative.flows.spline import SplineCoupling

__all__ = ["autoregressive_flow", "autoregressive_spline_flow", "coupling_flow", "spline_flow"]


@add_call_to_errors
def coupling_flow(features: int, *, layers: int = 6, hidden: int = 64) -> Flow:
    """Returns a normalizing flow of affine coupling maps, with learned linear mixing between them.

    Cost: its parameters, drawn from torch's random state.

    >>> coupling_flow(2).sample(3).shape
    torch.Size([3, 2])
    """
    parts: list[AbstractTransform] = []
    features = check_integer(
        "features", features, least=2
    )  # A coupling map changes some coordinates and keeps others, so it needs at least two
    for i in range(check_integer("layers", layers)):
        stays = alternating_mask(features, i)
        kept = int(stays.sum())
        parts += [
            InvertibleMixing(features),
            Coupling(coupling_network(kept, 2 * (features - kept), hidden=hidden), stays),
        ]
    return Flow(parts, shape=(features,))


@add_call_to_errors
def spline_flow(features: int, *, layers: int = 3, hidden: int = 64, bins: int = 8, bound: float = 5.0) -> Flow:
    """Returns a normalizing flow of spline coupling maps; the data should lie within ``bound`` of the origin.

    Cost: its parameters, drawn from torch's random state.

    >>> spline_flow(2).sample(3).shape
    torch.Size([3, 2])
    """
    parts: list[AbstractTransform] = []
    features = check_integer("features", features, least=2)
    for i in range(2 * check_integer("layers", layers)):
        stays = alternating_mask(features, i)
        kept = int(stays.sum())
        network = coupling_network(kept, (3 * bins - 1) * (features - kept), hidden=hidden)
        parts.append(SplineCoupling(network, stays, bins=bins, bound=bound))
    return Flow(parts, shape=(features,))


@add_call_to_errors
def autoregressive_flow(features: int, *, layers: int = 5, hidden: int = 64) -> Flow:
    """Returns a normalizing flow of affine autoregressive maps, which alternate in the order of coordinates.

    Cost: its parameters, drawn from torch's random state.

    >>> autoregressive_flow(2).sample(3).shape
    torch.Size([3, 2])
    """
    features, layers = check_integer("features", features), check_integer("layers", layers)
    networks = [MaskedNetwork(features, 2, hidden=hidden) for _ in range(layers)]
    maps = [Autoregressive(network, reverse=i % 2 == 1) for i, network in enumerate(networks)]
    return Flow(maps, shape=(features,))


@add_call_to_errors
def autoregressive_spline_flow(
    features: int, *, layers: int = 3, hidden: int = 64, bins: int = 8, bound: float = 5.0
) -> Flow:
    """Returns a normalizing flow of autoregressive splines: the most accurate flow here for its size, the slowest to
    sample.

    The data should lie within ``bound`` of the origin; the order of coordinates is reversed from one map to the next.

    Cost: its parameters, drawn from torch's random state; a sample costs one pass for each feature.

    >>> autoregressive_spline_flow(2).sample(3).shape
    torch.Size([3, 2])
    """
    features, layers = check_integer("features", features), check_integer("layers", layers)
    outputs = 3 * check_integer("bins", bins, least=2) - 1
    networks = [MaskedNetwork(features, outputs, hidden=hidden) for _ in range(layers)]
    maps = [
        SplineAutoregressive(network, reverse=i % 2 == 1, bins=bins, bound=bound) for i, network in enumerate(networks)
    ]
    return Flow(maps, shape=(features,))
