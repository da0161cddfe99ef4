"""Compares a network's outputs in training mode with its outputs in eval mode.

With outputs f_i^s of example i in training mode under seed s,

    noise = V / (variance over i of mean_s f_i^s - V / draws),    V = mean over i of the variance over s of f_i^s  (1)

is the variance that chance makes over that which examples make: what dropout leaves of the signal must be seen in
training mode, for a norm behind it keeps outputs of one size, whatever they consist of. One layer of dropout with rate
p before the last layer gives about p / (1 - p) times the size of a feature's square over its variance: 1 to 3 at
p = 1/2, for any network. Noise above `MAX_NOISE_RATIO` together with a rate of at least `MAX_DROPOUT_RATE` hides
everything that training could learn.

Hypotheses: none.
Reference: [srivastava2014dropout].

>>> import torch
>>> net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.97), nn.Linear(64, 2))
>>> dropout_noise_findings(net, torch.randn(64, 8))[0].kind
'modes-disagree'
"""

import torch
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.modules.layer_classes import BATCH_NORMS, DROPOUTS
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.results import Finding, Value
from gnomon.findings import network as kinds

__all__ = ["dropout_noise_findings"]

MAX_NOISE_RATIO = 5.0
"""Ratio of noise to signal in training mode above which dropout is too strong."""
MAX_DROPOUT_RATE = 0.75
"""Dropout rate above the usual recommendations for hidden layers."""
TRAINING_PASSES = 6
"""Passes in training mode."""
MAX_MEASURABLE_NOISE = 100.0
"""Ratio of noise to signal above which these passes cannot measure the signal."""


def dropout_noise_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if dropout makes the network's outputs in training mode mostly noise.

    See equation (1) of the module docstring.
    Batch norm has its own check. False alarms: none by chance, for the rate must be beyond `MAX_DROPOUT_RATE` as well.

    Hypotheses: none.
    Reference: [srivastava2014dropout].
    Cost: six forward passes.

    >>> dropout_noise_findings(nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 2)), torch.randn(64, 8))
    ()
    """
    drops = [
        (name, part)
        for name, part in module.named_modules()
        if isinstance(part, DROPOUTS) and part.p >= MAX_DROPOUT_RATE
    ]
    if not drops or count_examples(x) < 8:
        return ()
    with preserve(module, grad=False):
        # Puts all submodules except batch norms into train mode, because attention in eval mode skips its inner
        # dropout.
        for part in module.modules():
            part.training = not isinstance(part, BATCH_NORMS)
        drawn = torch.stack([_outputs(module, x, seed) for seed in range(TRAINING_PASSES)])
    chance = float(drawn.var(0).sum(1).mean())
    signal = float(drawn.mean(0).var(0).sum()) - chance / TRAINING_PASSES
    noise = chance / max(signal, chance / MAX_MEASURABLE_NOISE, 1e-300)  # (1)
    if noise < MAX_NOISE_RATIO:
        return ()
    name, part = max(drops, key=lambda one: one[1].p)

    evidence = (Value("noise over signal", noise), Value("accepted", MAX_NOISE_RATIO))
    return (Finding(kinds.MODES_DISAGREE, name, {"noise": noise, "rate": part.p}, evidence, 0.0),)


def _outputs(module: nn.Module, x: Inputs, seed: int) -> Tensor:
    with random_state(seed):
        return run_to_rows(module, x).detach().double()
