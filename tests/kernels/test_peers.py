"""Modules of PyTorch Geometric and transformers, where these are installed: read, or refused with the reason."""

import importlib.util
import math

import pytest
import torch
from torch import nn

import gnomon
from gnomon.models import ModuleOnGraph


def installed(name):
    return importlib.util.find_spec(name) is not None


geometric = pytest.mark.skipif(not installed("torch_geometric"), reason="torch_geometric is not installed")
transformers = pytest.mark.skipif(not installed("transformers"), reason="transformers is not installed")

# PyTorch Geometric compiles some of its functions by torch.jit.script while it is imported, which torch warns of
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

EDGES = torch.tensor([[0, 1, 1, 2, 1, 3], [1, 0, 2, 1, 3, 1]])


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        from torch_geometric.nn import GCNConv

        self.a, self.b, self.c = GCNConv(3, width), GCNConv(width, width), nn.Linear(width, 1)

    def forward(self, x, edge_index):
        h = torch.relu(self.a(x, edge_index))
        return self.c(torch.relu(self.b(h, edge_index)).mean(-2))


def empirical(net, x):
    rows = [torch.autograd.grad(o, list(net.parameters()), retain_graph=True) for o in net(x)[:, 0]]
    flat = torch.stack([torch.cat([g.reshape(-1) for g in row]) for row in rows])
    return flat @ flat.T


@geometric
def test_a_gcn_of_pytorch_geometric_agrees_with_its_draws():
    x = torch.randn(3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    limit = gnomon.limit(ModuleOnGraph(Classifier(64), EDGES)).ntk(x)
    draws = torch.stack([empirical(ModuleOnGraph(Classifier(64), EDGES).double(), x) for _ in range(60)])
    scale = limit.diag().sqrt()
    allowed = 4 * draws.std(0) / math.sqrt(60) + 3 / 64 * scale[:, None] * scale
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all())


@geometric
def test_instruments_take_data_and_modules_of_pytorch_geometric():
    from torch_geometric.data import Data
    from torch_geometric.nn import GCN

    torch.manual_seed(0)
    ring = torch.stack([torch.arange(12), (torch.arange(12) + 1) % 12])
    data = Data(x=torch.randn(12, 4), edge_index=torch.cat([ring, ring.flip(0)], 1))
    net = GCN(4, 8, 2, 3)
    assert gnomon.graphs.node_influence(net, data.x, data).reach == 2
    assert len(gnomon.graphs.oversmoothing(net, data.x, data).distance) == 2
    assert gnomon.graphs.graph_spectrum(data).components == 1
    limit = gnomon.limit(ModuleOnGraph(GCN(4, 8, 2, 3), data.edge_index)).nngp(torch.randn(2, 12, 4))
    assert limit.shape == (2, 2)


def tiny(initializer_range):
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=16, initializer_range=initializer_range,
    )  # fmt: skip
    return BertForSequenceClassification(config).eval()


TOKENS = torch.tensor([[1, 7, 3, 9], [1, 7, 4, 9], [2, 30, 41, 12]])


@transformers
def test_bert_from_a_config_agrees_with_its_draws():
    """Over draws of all but the last map, whose part is initializer_range^2 times the features' products."""
    std = 0.15
    torch.manual_seed(0)
    limit = gnomon.limit(tiny(std)).nngp(TOKENS)
    draws = []
    for _ in range(60):
        with torch.no_grad():
            h = tiny(std).bert(TOKENS).pooler_output.double()
        draws.append(std**2 * h @ h.T)
    draws = torch.stack(draws)
    scale = limit.diag().sqrt()
    allowed = 4 * draws.std(0) / math.sqrt(60) + 3 / 32 * scale[:, None] * scale
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all()), (draws.mean(0) - limit) / (scale[:, None] * scale)
    k = gnomon.limit(tiny(0.02))(TOKENS)
    assert float(torch.linalg.eigvalsh(k.ntk)[0]) > 0


class Padded(nn.Module):
    """BERT that does not see tokens of number zero."""

    def __init__(self, initializer_range, part="logits", options=None):
        super().__init__()
        self.net, self.part, self.options = tiny(initializer_range), part, options or {}

    def forward(self, tokens):
        return getattr(self.net(tokens, attention_mask=(tokens != 0).long(), **self.options), self.part)


@transformers
def test_bert_with_padding_agrees_with_short_sequences_and_with_its_draws():
    std, padded = 0.15, torch.cat([TOKENS, torch.zeros(3, 3, dtype=torch.long)], 1)
    torch.manual_seed(0)
    limit, short = gnomon.limit(Padded(std)).nngp(padded), gnomon.limit(tiny(std)).nngp(TOKENS)
    scale = short.diag().sqrt()
    assert float(((limit - short) / (scale[:, None] * scale)).abs().max()) < 0.03  # both are averages over draws
    mixed = padded.clone()
    mixed[1, 4:] = torch.tensor([5, 6, 8])  # one sequence of full length
    limit, draws = gnomon.limit(Padded(std)).nngp(mixed), []
    for _ in range(60):
        with torch.no_grad():
            h = tiny(std).bert(mixed, attention_mask=(mixed != 0).long()).pooler_output.double()
        draws.append(std**2 * h @ h.T)
    draws, scale = torch.stack(draws), limit.diag().sqrt()
    allowed = 4 * draws.std(0) / math.sqrt(60) + 3 / 32 * scale[:, None] * scale
    assert bool(((draws.mean(0) - limit).abs() <= allowed).all()), (draws.mean(0) - limit) / (scale[:, None] * scale)


@transformers
def test_other_uses_of_bert_are_refused():
    from gnomon.core.errors import UnsupportedModuleError

    with pytest.raises(UnsupportedModuleError, match="Take its logits"):
        gnomon.limit(Padded(0.1, part="hidden_states")).nngp(TOKENS)
    with pytest.raises(UnsupportedModuleError, match="tokens and attention_mask have a rule"):
        gnomon.limit(Padded(0.1, options={"output_attentions": True})).nngp(TOKENS)


@transformers
def test_other_models_of_transformers_are_refused_in_one_sentence():
    from transformers import GPT2Config, GPT2LMHeadModel

    from gnomon.core.errors import UnsupportedModuleError

    net = GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=16, n_layer=1, n_head=2, n_positions=8)).eval()
    with pytest.raises(
        UnsupportedModuleError, match=r"GPT2LMHeadModel\) is a model of transformers, which makes masks.*sampled_limit"
    ):
        gnomon.limit(net).nngp(torch.randint(20, (2, 4)))
    with pytest.raises(UnsupportedModuleError, match="drops entries|Call net.eval"):
        gnomon.limit(tiny(0.1).train()).nngp(TOKENS)
