"""Training mode against eval mode: outputs that have little in common.

With outputs f_i in eval mode and f_i^s in training mode under seed s,

    noise = mean over i and s of |f_i^s - mean_s f_i^s|^2 / mean over i of |f_i - mean f|^2                      (1)

One layer of dropout with rate p before the last layer gives about p / (1 - p) times the size of a feature's square
over its variance: 1 to 3 at p = 1/2, whatever the network. Noise of more than `NOISE` together with a rate of at least
`RATE` drowns what training could learn.

Hypotheses: none.
Reference: [srivastava2014dropout].

>>> import torch
>>> net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.97), nn.Linear(64, 2))
>>> mode_findings(net, torch.randn(64, 8))[0].kind
'modes-disagree'
"""

import torch
from torch import Tensor, nn

from gnomon.core.inputs import Inputs, count, invoke, table
from gnomon.core.pure import random_state
from gnomon.core.results import Finding, Value
from gnomon.core.untouched import untouched

__all__ = ["mode_findings"]

NOISE = 5.0
RATE = 0.75
"""Of dropout, beyond which nobody recommends it for hidden layers; inputs of wide layers bear a half."""
DRAWS = 6
DROPS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
CALL = "examine(module, train=(x, y))"


def mode_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Whether dropout leaves nothing of the outputs in training mode; equation (1).

    Batch norm has its own check. False alarms: none by chance, for the rate must be beyond `RATE` as well.

    Hypotheses: none.
    Reference: [srivastava2014dropout].
    Cost: seven forward passes.

    >>> mode_findings(nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 2)), torch.randn(64, 8))
    ()
    """
    drops = [(name, part) for name, part in module.named_modules() if isinstance(part, DROPS) and part.p >= RATE]
    if not drops or count(x) < 8:
        return ()
    with untouched(module), torch.no_grad():
        f = _outputs(module, x, 0)
        for part in module.modules():
            part.training = isinstance(part, DROPS)
        drawn = torch.stack([_outputs(module, x, seed) for seed in range(DRAWS)])
    signal = float((f - f.mean(0)).square().sum(1).mean())
    noise = float(drawn.var(0).sum(1).mean()) / max(signal, 1e-300)  # (1)
    if noise < NOISE:
        return ()
    name, part = max(drops, key=lambda one: one[1].p)
    what = (
        f"In training mode the outputs are mostly noise, {noise:.3g} times their signal: '{name}' drops {part.p:.0%}."
    )
    cure = f"Lower the rate: nn.Dropout(0.1) to nn.Dropout(0.5) instead of nn.Dropout({part.p:g})."
    evidence = (Value("noise over signal", noise), Value("accepted", NOISE))
    return (Finding("modes-disagree", what, cure, 0.9, name, evidence, 0.0),)


def _outputs(module: nn.Module, x: Inputs, seed: int) -> Tensor:
    with random_state(seed):
        return table(invoke(module, x), count(x), CALL).detach().double()
