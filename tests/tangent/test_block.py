"""Blocks of examples that run in several pieces give the kernel of one piece."""

import pytest

from gnomon.core.modules.pure import PureFunction
from gnomon.tangent import block, ntk
from gnomon.tangent.plan import make_plan
from gnomon.tangent.probe import Probe
from tests.oracles import tangent_jacobian as oracle
from tests.tangent import zoo


@pytest.mark.parametrize("name", ["cnn", "pooled", "resnet", "tied", "repeated", "gains"])
def test_pieces_of_unequal_size_give_the_kernel_of_the_jacobian(name, monkeypatch):
    case = next(c for c in zoo.CASES if c.name == name)
    net, x1, x2 = zoo.build(case), zoo.sample(case, 7), zoo.sample(case, 4, seed=2)
    sizes = []
    original = block.Block.__init__

    def counted(self, *args, **kwargs):
        original(self, *args, **kwargs)
        sizes.append([len(piece.outputs) for piece in self.pieces])

    monkeypatch.setattr(block.Block, "__init__", counted)
    plan = make_plan(Probe(PureFunction.of(net), x1))
    monkeypatch.setattr(block, "PIECE_BYTES", 3 * plan.activations)
    for outputs in ("trace", "diagonal", "full"):
        sizes.clear()
        found = ntk(net, x1, x2, outputs=outputs)
        assert [3, 3, 1] in sizes and [2, 2] in sizes  # at most three examples; the last piece is evened out
        wanted = oracle.kernel(net, x1, x2, outputs=outputs)
        assert float((found - wanted).abs().max()) < 1e-10 * float(wanted.abs().max())
