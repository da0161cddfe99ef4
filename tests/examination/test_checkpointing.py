"""Reentrant gradient checkpointing is refused with the cause; other checkpointing is examined."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import gnomon
from gnomon.core.errors import InputError

X, Y = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
STEPS = tuple(step for step in gnomon.examination.STEPS if step.key in {"architecture", "wiring"})


class Checkpointed(nn.Module):
    def __init__(self, reentrant, embed):
        super().__init__()
        self.first = nn.Linear(4, 4) if embed else nn.Identity()
        self.inner, self.last, self.reentrant = nn.Linear(4, 8), nn.Linear(8, 3), reentrant

    def forward(self, x):
        return self.last(checkpoint(self.inner, self.first(x), use_reentrant=self.reentrant).relu())


def look(net):
    return gnomon.examine(net, (X, Y), fit=False, examination_steps=STEPS)


@pytest.mark.parametrize(("embed", "message"), [(True, "use_reentrant=True .expected"), (False, "get no gradient")])
def test_reentrant_checkpoints_are_refused(embed, message):
    with pytest.raises(InputError, match=message) as caught:
        look(Checkpointed(True, embed))
    assert "Pass use_reentrant=False" in str(caught.value)


@pytest.mark.parametrize("embed", [True, False])
def test_other_checkpoints_are_examined(embed):
    result = look(Checkpointed(False, embed))
    assert result.findings == () and [s.state for s in result.sections] == ["answered", "answered"]
