"""Graphs, points in space, series, operators, pairs: everything that is no image, table or text."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import LBFGS, Adam

from evaluation.public_models.case import Case, Data, Reading
from evaluation.public_models.data import graphs, series
from evaluation.public_models.data.images import digits
from evaluation.public_models.models.examples import Siamese, TimeSequence
from evaluation.public_models.models.library_nets import CdeClassifier, GraphIsomorphism, NBeats, OdeClassifier
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import compare, first, predict


def gcn():
    """The GCN of PyTorch Geometric, for nodes of one graph."""
    from torch_geometric.nn import GCN

    return GCN(64, 32, num_layers=2, out_channels=10, dropout=0.5)


def graph_sage():
    """GraphSAGE of PyTorch Geometric, for nodes of many graphs."""
    from torch_geometric.nn import GraphSAGE

    return GraphSAGE(3, 32, num_layers=3, out_channels=2)


def gat():
    """Graph attention of PyTorch Geometric, for nodes of many graphs."""
    from torch_geometric.nn import GAT

    return GAT(3, 32, num_layers=2, out_channels=2, heads=4, v2=True)


def attentive_fp():
    """AttentiveFP of PyTorch Geometric: nodes, edges with numbers, and one class for each graph."""
    from torch_geometric.nn.models import AttentiveFP

    return AttentiveFP(3, 32, 10, edge_dim=2, num_layers=2, num_timesteps=2)


class WithinGraph(nn.Module):
    """All pairs of points of the same cluster, for SchNet's option ``interaction_graph``."""

    def forward(self, pos, batch):
        """Edges and their lengths."""
        edges = ((batch[:, None] == batch) & ~torch.eye(len(batch), dtype=torch.bool)).nonzero().T
        return edges, (pos[edges[0]] - pos[edges[1]]).norm(dim=-1)


def schnet():
    """SchNet of PyTorch Geometric, for energies."""
    from torch_geometric.nn.models import SchNet

    return SchNet(32, 32, num_interactions=2, num_gaussians=16, cutoff=8.0, interaction_graph=WithinGraph())


def egnn():
    """The equivariant network of egnn-pytorch; returns (features, places)."""
    from egnn_pytorch import EGNN_Network

    return EGNN_Network(num_tokens=3, dim=16, depth=2)


def e3nn():
    """A network of e3nn that takes a whole PyTorch Geometric batch as its one argument."""
    from e3nn.nn.models.v2106.gate_points_networks import SimpleNetwork

    return SimpleNetwork("3x0e", "0e", max_radius=6.0, num_neighbors=6.0, num_nodes=7.0, mul=8, layers=2, lmax=1)


def kan(seed: int = 0):
    """A Kolmogorov-Arnold network of pykan."""
    from kan import KAN

    return KAN(width=[2, 5, 1], grid=5, k=3, seed=seed, auto_save=False)


def fno():
    """The Fourier neural operator of neuraloperator, with complex weights."""
    from neuralop.models import FNO

    return FNO(n_modes=(12,), in_channels=1, out_channels=1, hidden_channels=16, n_layers=2)


def siren():
    """A network of sines for an image, from siren-pytorch."""
    from siren_pytorch import SirenNet

    return SirenNet(dim_in=2, dim_hidden=64, dim_out=1, num_layers=3, w0_initial=10.0)


def i_transformer():
    """iTransformer: attention over series; computes a loss if it gets targets."""
    from iTransformer import iTransformer

    return iTransformer(
        num_variates=4, lookback_len=48, pred_length=12, depth=2, dim=32, heads=4, dim_head=16, num_residual_streams=1
    )


def tcn():
    """Dilated causal convolutions of pytorch-tcn, (n, channels, length)."""
    from pytorch_tcn import TCN

    return TCN(num_inputs=1, num_channels=[16, 16, 16], kernel_size=3, output_projection=1)


def cfc():
    """A closed-form continuous-time network of ncps; returns (outputs, state)."""
    from ncps.torch import CfC

    return CfC(1, 32, proj_size=1, batch_first=True)


def patch_tst():
    """PatchTST of Hugging Face: computes its loss from ``future_values``."""
    from transformers import PatchTSTConfig, PatchTSTForPrediction

    sizes = {"d_model": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64}
    return PatchTSTForPrediction(
        PatchTSTConfig(
            num_input_channels=4, context_length=48, prediction_length=12, patch_length=8, patch_stride=4, **sizes
        )
    )


def same_digit(seed: int) -> Data:
    """Pairs of images, and 1 if both show the same digit, else 0, as numbers (n,)."""
    x, y, xt, yt = digits(seed, 3000, 800)
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for images, classes in ((x, y), (xt, yt)):
        same = torch.rand(len(classes), generator=generator) < 0.5
        partner = torch.stack([_partner(classes, i, bool(same[i]), generator) for i in range(len(classes))])
        parts.append(((images, images[partner]), same.float()))
    return Data(*parts)


def _partner(classes, i, same, generator):
    fitting = ((classes == classes[i]) == same).nonzero().flatten()
    return fitting[torch.randint(len(fitting), (1,), generator=generator)][0]


def same_loss(outputs, targets):
    """Binary cross-entropy of probabilities (n, 1) and targets (n,)."""
    return F.binary_cross_entropy(outputs.squeeze(1), targets)


def _on_graph(loss):
    return lambda model, batch: loss(_graph_call(model, batch), batch.y)


def _graph_call(model, batch):
    """Call with the attributes that forward names."""
    import inspect

    names = inspect.signature(type(model).forward).parameters
    wanted = [
        n
        for n in ("x", "z", "pos", "edge_index", "edge_attr", "batch")
        if n in names and getattr(batch, n, None) is not None
    ]
    return model(**{name: getattr(batch, name) for name in wanted})


def _graph_answers(model, batch):
    return _graph_call(model, batch), batch.y


def _masked_loss(model, graph):
    return F.cross_entropy(model(graph.x, graph.edge_index)[graph.train_mask], graph.y[graph.train_mask])


def _masked_answers(model, graph):
    return model(graph.x, graph.edge_index)[graph.test_mask], graph.y[graph.test_mask]


def _whole_batch(model, batch):
    return F.mse_loss(model(batch)[:, 0], batch.y)


def _node_call(model, batch):
    return F.cross_entropy(model(batch.x, batch.edge_index), batch.y)


def _future_loss(model, batch):
    return model(**batch).loss


def _future_answers(model, batch):
    return model(past_values=batch["past_values"]).prediction_outputs, batch["future_values"]


def _regression(id, kind, source, license, build, data, output=lambda out: out, **more) -> Case:
    return Case(
        id, kind, source, license, build, data, (Reading.NUMBERS,), compare(F.mse_loss, output), predict(output), explained,
        more.pop("optimizer", Adam), **more,
    )  # fmt: skip


def _fast(parameters):
    return Adam(parameters, lr=5e-3)


PYG = "torch_geometric"

CASES = (
    Case("gin", "graphs", f"{PYG} GINConv, as its examples", "MIT", GraphIsomorphism, graphs.digit_graphs, (Reading.CLASS,),
         _on_graph(F.cross_entropy), _graph_answers, accuracy, _fast, rewritten=True, classes=10),
    Case("attentive-fp", "graphs", f"{PYG} AttentiveFP", "MIT", attentive_fp, graphs.digit_graphs, (Reading.CLASS,),
         _on_graph(F.cross_entropy), _graph_answers, accuracy, _fast, classes=10),
    Case("gcn", "graphs", f"{PYG} GCN", "MIT", gcn, graphs.neighbor_graph, (Reading.CLASS_PER_NODE, Reading.CLASS), _masked_loss,
         _masked_answers, accuracy, lambda parameters: Adam(parameters, lr=1e-2, weight_decay=5e-4), batch=1000, classes=10),  # all nodes in one step
    Case("graph-sage", "graphs", f"{PYG} GraphSAGE", "MIT", graph_sage, graphs.pixel_graphs,
         (Reading.CLASS_PER_NODE, Reading.CLASS), _node_call, lambda model, b: (model(b.x, b.edge_index), b.y), accuracy, _fast, classes=2),
    Case("gat", "graphs", f"{PYG} GAT", "MIT", gat, graphs.pixel_graphs, (Reading.CLASS_PER_NODE, Reading.CLASS), _node_call,
         lambda model, b: (model(b.x, b.edge_index), b.y), accuracy, _fast, classes=2),
    Case("schnet", "graphs", f"{PYG} SchNet", "MIT", schnet, graphs.clusters, (Reading.NUMBERS,),
         lambda model, b: F.mse_loss(model(b.z, b.pos, b.batch)[:, 0], b.y),
         lambda model, b: (model(b.z, b.pos, b.batch)[:, 0], b.y), explained, _fast),
    Case("e3nn", "equivariant", "e3nn SimpleNetwork", "MIT", e3nn, graphs.clusters, (Reading.NUMBERS,), _whole_batch,
         lambda model, b: (model(b)[:, 0], b.y), explained, _fast),
    _regression("egnn", "equivariant", "egnn-pytorch EGNN_Network", "MIT", egnn, graphs.moving_points, lambda out: out[1]),
    Case("neural-ode", "differential equations", "torchdiffeq odeint, as its manual", "MIT", OdeClassifier, series.moons,
         (Reading.CLASS,), compare(F.cross_entropy), predict(), accuracy, _fast, rewritten=True, classes=2),
    Case("neural-cde", "differential equations", "torchcde cdeint, as its manual", "Apache-2.0", CdeClassifier, series.spirals,
         (Reading.CLASS,), compare(F.cross_entropy), predict(), accuracy, _fast, rewritten=True, classes=2),
    _regression("fno", "operators", "neuraloperator FNO", "MIT", fno, series.transport, optimizer=_fast),
    _regression("kan", "regression", "pykan KAN", "MIT", kan, series.formula, optimizer=lambda p: Adam(p, lr=2e-2), batch=128),
    _regression("siren", "regression", "siren-pytorch SirenNet", "MIT", siren, series.image_coordinates, batch=256),
    _regression("time-sequence", "series", "pytorch/examples time_sequence_prediction Sequence", "BSD-3-Clause",
                lambda: TimeSequence().double(), series.sine_waves, optimizer=lambda p: LBFGS(p, lr=0.8), batch=80, rewritten=True),
    _regression("tcn", "series", "pytorch-tcn TCN", "MIT", tcn, series.next_values(channel_first=True)),
    _regression("cfc", "series", "ncps CfC", "Apache-2.0", cfc, series.next_values(channel_first=False), first, optimizer=_fast),
    _regression("n-beats", "series", "philipperemy/n-beats NBeatsNet", "MIT", NBeats, series.forecasts(1, flat=True), lambda out: out[1],
                rewritten=True),
    _regression("i-transformer", "series", "iTransformer iTransformer", "MIT", i_transformer, series.forecasts()),
    Case("patch-tst", "series", "transformers PatchTSTForPrediction", "Apache-2.0", patch_tst, series.named_forecasts,
         (Reading.MODEL_LOSS, Reading.NUMBERS), _future_loss, _future_answers, explained, _fast),
    Case("siamese", "pairs", "pytorch/examples siamese_network", "BSD-3-Clause", Siamese, same_digit,
         (Reading.OWN_LOSS, Reading.LABELS, Reading.CLASS), compare(same_loss), predict(lambda out: out.squeeze(1) - 0.5), binary_accuracy, Adam,
         loss=same_loss, rewritten=True, batch=64),
)  # fmt: skip
