"""Runs all attribution methods on a network and shows maps, frequencies, shortcuts and layer probes on one sheet.

>>> import torch
>>> net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
>>> x = torch.rand(40, 1, 6, 6)
>>> sheet = attribution_overview(net, (x, (x.mean((1, 2, 3)) > 0.5).long()), epochs=1)
>>> sheet.mask is not None, len(sheet.probes.layers)
(True, 6)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from gnomon.attribution.fourier import FourierMask, fourier_mask
from gnomon.attribution.gradient import integrated_gradients
from gnomon.attribution.layers import one_tensor
from gnomon.attribution.probes import LayerProbeReport, layer_probe
from gnomon.attribution.record import Attribution
from gnomon.attribution.sanity import SanityCheck, sanity_check
from gnomon.attribution.shortcut import Shortcuts, shortcuts
from gnomon.attribution.tiles import tile_attribution_maps
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import Progress
from gnomon.core.results import Axis, Finding, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["AttributionOverview", "attribution_overview"]

METHOD_COUNT = 5
"""Number of methods that the sheet runs."""
SHOWN_EXAMPLES = 6
"""Number of examples on a sheet."""


@dataclass(frozen=True, slots=True, eq=False)
class AttributionOverview(Result):
    """Result: attribution maps with a sanity check, shortcuts, needed image frequencies, and layer probes."""

    attribution: Attribution
    sanity: SanityCheck
    shortcuts: Shortcuts
    probes: LayerProbeReport
    mask: FourierMask | None
    inputs: Tensor | None = field(default=None, repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def verdict(self) -> str:
        """States the most important results of all attribution methods in a few sentences."""
        parts = [self.shortcuts.verdict, self.mask.verdict if self.mask is not None else "", self.probes.verdict]
        return " ".join(part for part in parts if part)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns findings about shortcuts: single features that alone determine the network's predictions."""
        return self.shortcuts.findings

    def plots(self) -> tuple[Plot, ...]:
        """Plots attribution maps, shortcuts, frequencies and layer probes, in this order."""
        values = self.attribution.values
        maps: tuple[Plot, ...] = ()
        if values.dim() == 4:
            words = (
                "Red pixels raise the output of the predicted class, blue pixels lower it (integrated gradients); one "
                "image for each example."
            )
            if not self.sanity.depends_on_model:
                words += (
                    " The attribution maps hardly change if the weights are shuffled: the maps show the "
                    "images, not the network."
                )
            picture = tile_attribution_maps(values, self.inputs, len(values))
            axes = Axis("example"), Axis("pixels, top to bottom")
            maps = (Plot("What the network looks at", (picture,), *axes, words, id="what-the-network-looks-at"),)
        mask = self.mask.plots() if self.mask is not None else ()
        return (*maps, *self.shortcuts.plots(), *mask, *self.probes.plots())


@add_call_to_errors
@limit_time
def attribution_overview(
    module: nn.Module,
    data: Any,
    *,
    epochs: int = 5,
    columns: Sequence[str] = (),
    seed: int = 0,
    budget: float | None = None,
) -> AttributionOverview:
    """Runs all attribution methods on one model and its data, and collects the results in one overview.

    ``columns`` names the columns of a table. ``budget`` is the number of seconds after which the call ends with an
    error that says how long it would take.

    Cost: about 50 forward and backward passes of some examples, 24 forward passes of 512, ``epochs`` passes over the
    data for the frequencies (images only), and a probe of each layer.

    >>> import torch
    >>> x = torch.randn(60, 3)
    >>> attribution_overview(nn.Sequential(nn.Linear(3, 2)), (x, (x[:, 0] > 0).long())).mask is None
    True
    """
    given = data_source(data, module=module)
    few = given.probe(SHOWN_EXAMPLES, seed=seed)
    x = one_tensor(few.x, module)
    with Progress(METHOD_COUNT, "parts of the sheet") as progress:
        attribution = integrated_gradients(module, x)
        progress.step()
        sane = sanity_check(integrated_gradients, module, x, draws=1, seed=seed)
        progress.step()
        image = isinstance(x, Tensor) and x.dim() == 4
        mask = fourier_mask(module, given, epochs=epochs) if image else None
        progress.step()
        found = shortcuts(module, given, columns=columns, seed=seed)
        progress.step()
        probed = layer_probe(module, given, seed=seed)
    return AttributionOverview(attribution, sane, found, probed, mask, x.detach())
