"""Layers without a gradient: a head that the loss does not use, and a layer that something cuts off."""

import torch
from torch import Tensor, nn

import gnomon
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.wiring import WiringStep

N = 12
X = torch.randn(N, 3, generator=torch.Generator().manual_seed(0))


class Heads(nn.Module):
    """Two outputs, of which the loss uses one; with ``cut`` this one is detached from a layer."""

    def __init__(self, *, cut: bool = False) -> None:
        super().__init__()
        self.used, self.spare, self.cut = nn.Linear(3, 1), nn.Linear(3, 1), cut
        self.early = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        h = self.early(x)
        return {"spare": self.spare(h), "used": self.used(h.detach() if self.cut else h)}


def test_a_head_that_the_loss_does_not_use_is_a_note_and_a_cut_layer_a_problem() -> None:
    def loss(outputs: dict[str, Tensor], y: Tensor) -> Tensor:
        return (outputs["used"] - y).square().mean()

    def kinds(network: nn.Module) -> list[tuple[str, str]]:
        data, steps = (X, X.sum(1, keepdim=True)), (ArchitectureStep(), WiringStep())
        found = gnomon.examine(network, data, loss=loss, fit=False, budget=30, examination_steps=steps).findings
        return [(one.level.name, one.kind) for one in found if one.kind in ("detached", "outputs-without-loss")]

    assert kinds(Heads()) == [("NOTE", "outputs-without-loss")]
    assert ("PROBLEM", "detached") in kinds(Heads(cut=True))
