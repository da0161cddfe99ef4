"""Finds parameters that forward itself changes, for example by reset_parameters, fill_ or a new nn.Parameter.

A forward pass in training mode must leave the parameters alone, because the optimizer changes them. Weights that
forward draws again lose what they learned in every step.

Hypotheses: none; the comparison is exact.

>>> import torch
>>> class Net(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.layer = nn.Linear(2, 1)
...     def forward(self, x):
...         self.layer.reset_parameters()
...         return self.layer(x)
>>> changed_weight_findings(Net(), torch.ones(3, 2))[0].where
'layer'
>>> changed_weight_findings(nn.Linear(2, 1), torch.ones(3, 2))
()
"""

from torch import nn

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["changed_weight_findings"]

SEED_OF_PASS = 20_011
"""Seed of the pass; another one than in earlier passes, after which forward would draw the same weights again."""
MAX_NAMED = 3
"""Layers named in the message, at most."""


def changed_weight_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Returns a finding if a forward pass in training mode changes parameters that are trained.

    Cost: a copy of the module and a forward pass.

    >>> changed_weight_findings(nn.Identity(), None)
    ()
    """
    if not any(p.requires_grad for p in module.parameters()):
        return ()
    made = copy_module(module)
    before = {name: p.detach().clone() for name, p in made.named_parameters() if p.requires_grad}
    with preserve(module, seed=SEED_OF_PASS):  # forward may call functions of the original module
        made.train()
        run_module(made, x)
    after = dict(made.named_parameters())
    changed = [name for name, p in before.items() if name not in after or not bool((after[name] == p).all())]
    if not changed:
        return ()
    owners = list(dict.fromkeys(name.rpartition(".")[0] or name for name in changed))
    names = ", ".join(f"'{name}'" for name in owners[:MAX_NAMED])
    size = sum(before[name].numel() for name in changed)
    return (Finding(kinds.WEIGHTS_CHANGED, owners[0], {"names": names, "size": size}, (), 0.0),)
