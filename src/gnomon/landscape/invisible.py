"""Measures which part of the weights affects no output of the examples.

    invisible share of a weight W = |W (1 - P)|^2 / |W|^2,  P the projector on the layer's inputs                 (1)

Gradient descent never changes this part. It keeps its initial value, or shrinks by weight decay.
Hypotheses: linear layers, whose inputs are all examples. Reference: [soudry2018implicit], section 2.

>>> InvisibleWeights({"0": 0.5}, {"0": 3}).shares["0"]
0.5
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Bars, Plot, Result

__all__ = ["InvisibleWeights", "invisible_weights"]


@dataclass(frozen=True, slots=True)
class InvisibleWeights(Result):
    """For each linear layer, the share of its squared weights that affects no example, and the rank of its inputs."""

    shares: dict[str, float]
    ranks: dict[str, int]

    @property
    def verdict(self) -> str:
        """A sentence that names the layer with the largest share of weights without effect on the outputs."""
        name = max(self.shares, key=self.shares.__getitem__)
        return (
            f"Up to {self.shares[name]:.0%} of the squared weight norm of a layer has no effect on the outputs for "
            f"these data ('{name}', "
            f"whose inputs span {self.ranks[name]} directions): only weight decay changes them."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots for each layer the share of weights without effect on the outputs."""
        bars = Bars("share", tuple(self.shares), tuple(self.shares.values()))
        return (
            Plot(
                "Weights without effect on the data",
                (bars,),
                Axis("share of the squared weights"),
                caption=self.verdict,
            ),
        )


@add_call_to_errors
def invisible_weights(module: nn.Module, x: Any) -> InvisibleWeights:
    """Computes for each linear layer the share of its squared weights that has no effect on any example.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        x: inputs, or data.

    Hypotheses: see the module; linear layers. Reference: [soudry2018implicit].
    Cost: a forward pass, and the eigenvectors of the covariance of each layer's inputs.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> net.weight.data = torch.tensor([[3.0, 4.0]])
    >>> result = invisible_weights(net, torch.tensor([[1.0, 0.0]]))                    # the second weight has no effect
    >>> round(result.shares[""], 4)
    0.64
    """
    check_weights(module)
    layers = {name: part for name, part in module.named_modules() if isinstance(part, nn.Linear)}
    if not layers:
        raise InputError(
            "the module has no linear layer", accepted="a network with nn.Linear", fix="Pass such a network"
        )
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, args: Any) -> None:
            h = args[0].detach().double().reshape(-1, args[0].shape[-1])
            seen[name] = seen.get(name, 0) + h.T @ h

        return hook

    with preserve(module, grad=False):
        handles = [part.register_forward_pre_hook(keep(name)) for name, part in layers.items()]
        try:
            for batch in as_input_source(x, module).batches():
                run_module(module, batch.x)
        finally:
            for handle in handles:
                handle.remove()
    shares, ranks = {}, {}
    for name, gram in seen.items():
        values, vectors = torch.linalg.eigh(gram)
        inside = values > 1e-10 * float(values[-1].clamp_min(1e-300))
        w = layers[name].weight.detach().double()
        ranks[name] = int(inside.sum())
        shares[name] = float((w @ vectors[:, ~inside]).square().sum() / w.square().sum().clamp_min(1e-300))  # (1)
    return InvisibleWeights(shares, ranks)
