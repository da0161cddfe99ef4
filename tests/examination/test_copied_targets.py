"""Targets that equal the inputs: a mistake, unless the network takes both and shifts them itself."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.columns import ColumnsStep
from gnomon.examination.steps.data import DataStep
from tests.examination.patients import examined

WORDS = torch.randint(0, 9, (120, 8), generator=torch.Generator().manual_seed(0))
STEPS = (ArchitectureStep(), DataStep(), ColumnsStep())


class Plain(nn.Module):
    """Logits for each position."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(9, 8), nn.Linear(8, 9)

    def forward(self, ids):
        return self.out(self.words(ids))


class ShiftsLabels(Plain):
    """As in Hugging Face: labels are the inputs, and the loss compares each position with the next one."""

    def forward(self, input_ids, labels=None):
        logits = super().forward(input_ids)
        if labels is None:
            return {"logits": logits}
        return {"loss": F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()), "logits": logits}


class TakesTargets(Plain):
    """As in nanoGPT: targets are shifted before, and without them only the last position is returned."""

    def forward(self, ids, targets=None):
        logits = super().forward(ids)
        if targets is None:
            return logits[:, -1:], None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@pytest.mark.parametrize(
    ("net", "train", "copies"),
    [
        (ShiftsLabels, {"input_ids": WORDS, "labels": WORDS}, False),
        (TakesTargets, (WORDS[:, :-1], WORDS[:, 1:]), False),
        (Plain, (WORDS[:, :-1], WORDS[:, 1:]), False),
        (Plain, (WORDS, WORDS), True),
    ],
)
def test_only_targets_that_nobody_shifts_are_copies(net, train, copies):
    found = examined(net, train, budget=3, fit=False, examination_steps=STEPS)
    assert ("targets-copied" in [finding.kind for finding in found.findings]) == copies
