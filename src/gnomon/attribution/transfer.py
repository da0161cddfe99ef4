"""Measures whether the features of a trained network help on another task, compared with an untrained copy.

    gain(layer) = accuracy of a probe of the learned features - accuracy of a probe of fresh features           (1)

Reference: [alain2017understanding].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.attribution.probes import layer_probe
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_seed
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import seed_generators
from gnomon.core.results import Axis, Line, Plot, Result

__all__ = ["TransferProbe", "transfer_probe"]


@dataclass(frozen=True, slots=True)
class TransferProbe(Result):
    """Result: held-out accuracy of linear probes on a new task, by layer, for a trained and an untrained network.

    >>> TransferProbe(("conv",), (0.9,), (0.7,)).best
    'conv'
    """

    layers: tuple[str, ...]
    learned: tuple[float, ...]
    fresh: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """Returns for each layer the probe's accuracy on trained features minus its accuracy on untrained features.

        See equation (1) of the module docstring.
        """
        return tuple(a - b for a, b in zip(self.learned, self.fresh, strict=True))

    @property
    def best(self) -> str:
        """Returns the layer of the trained network whose features give the most accurate linear probe."""
        return self.layers[max(range(len(self.layers)), key=lambda i: self.learned[i])]

    @property
    def verdict(self) -> str:
        """States whether the trained features help on the new task."""
        i = self.layers.index(self.best)
        return (
            f"On the new task a linear classifier on '{self.best}' is right on {self.learned[i]:.0%} of the examples "
            f"(untrained network: {self.fresh[i]:.0%})."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the accuracy of the probes over depth, for trained and untrained features."""
        depth = range(len(self.layers))
        lines = (Line("learned", depth, self.learned), Line("not trained", depth, self.fresh, "dashed"))
        return (Plot("Transfer to the new task", lines, Axis("layer"), Axis("accuracy of a probe")),)


@add_call_to_errors
def transfer_probe(
    module: nn.Module,
    data: Any,
    *,
    untrained: nn.Module | None = None,
    layers: Sequence[str] | None = None,
    seed: int = 0,
) -> TransferProbe:
    """Trains linear probes for a new task on each layer of a trained and of an untrained network.

    See equation (1) of the module docstring.

    Args:
        module: the trained network.
        data: examples of the new task, with its classes.
        untrained: the network before training; by default a copy whose layers are initialized again.
        layers: names of the layers; all that run by default.
        seed: random seed of the fresh copy and of the examples that are probed.

    Cost: two calls of `layer_probe`.

    >>> x = torch.randn(60, 3)
    >>> found = transfer_probe(nn.Sequential(nn.Linear(3, 8), nn.ReLU()), (x, (x[:, 0] > 0).long()))
    >>> found.layers
    ('0', '1')
    """
    check_module_is_callable(module)
    seed = check_seed(seed)
    start = _initialized_again(module, seed) if untrained is None else untrained
    both = [layer_probe(net, data, layers=layers, seed=seed).layers for net in (module, start)]
    rows = [{probe.name: probe.linear for probe in probes if probe.name != "input"} for probes in both]
    names = tuple(name for name in rows[0] if name in rows[1])
    return TransferProbe(names, tuple(rows[0][n] for n in names), tuple(rows[1][n] for n in names))


def _initialized_again(module: nn.Module, seed: int) -> nn.Module:
    copy = copy_module(module)
    parts: list[Any] = [m for m in copy.modules() if callable(getattr(m, "reset_parameters", None))]
    owned = {id(p) for m in parts for p in m.parameters(recurse=False)}
    if left := [name for name, p in copy.named_parameters() if id(p) not in owned]:
        found = f"parameter {left[0]!r} has no initializer of its own"
        raise InputError(found, accepted="layers with reset_parameters()", fix="Pass fresh=, the untrained network")
    with torch.random.fork_rng(devices=[]):
        seed_generators(seed)
        for part in parts:
            part.reset_parameters()
    return copy
