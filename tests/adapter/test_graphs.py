"""Graphs in the form of PyTorch Geometric: examples are graphs, or the nodes of one graph."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

import gnomon
from gnomon import InputError
from gnomon.adapter import graph_view
from gnomon.adapter.adapt import adapt_inputs, adapt_model_and_data
from gnomon.adapter.graph_view import adapt_graph_network
from gnomon.adapter.graphs import attribute_roles, join_graphs, pad_graphs
from gnomon.adapter.view import original_module
from gnomon.bayes import laplace
from gnomon.checks.network.ignored import ignored_input_findings
from gnomon.checks.network.signal import signal_propagation
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.examination.steps.architecture import ArchitectureStep
from gnomon.examination.steps.training import TrainingStep
from gnomon.examination.subject import build_subject
from gnomon.landscape import sharpness
from gnomon.training import TrainingRun


class Graph:
    """A graph with the interface of torch_geometric.data.Data."""

    def __init__(self, **parts):
        self.parts = parts

    num_nodes = property(lambda self: len(self.parts["x"]))

    def to_dict(self):
        return dict(self.parts)


class Joined(Graph):
    """A batch of graphs with the interface of torch_geometric.data.Batch."""

    def __init__(self, graphs):
        super().__init__(x=torch.cat([g.parts["x"] for g in graphs]))
        self.graphs = graphs

    def to_data_list(self):
        return self.graphs


class Gin(nn.Module):
    """Two rounds of sums over neighbors and a sum over the nodes of each graph, as in PyTorch Geometric."""

    def __init__(self, pool=True):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(2, 8), nn.Linear(8, 3), nn.BatchNorm1d(8)
        self.pool = pool

    def forward(self, x, edge_index, batch=None):
        h = self.norm(F.relu(self.first(x + self.neighbors(x, edge_index))))
        h = self.second(h + self.neighbors(h, edge_index))
        return h.new_zeros(int(batch.max()) + 1, 3).index_add(0, batch, h) if self.pool else h

    def neighbors(self, x, edges):
        return torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])


def some_graphs(count, seed=0, per_node=False):
    generator = torch.Generator().manual_seed(seed)
    made = []
    for i in range(count):
        nodes = 3 + i % 4
        edges = torch.randint(nodes, (2, 2 * nodes), generator=generator)
        x = torch.randn(nodes, 2, generator=generator)
        label = (x[:, 0] > 0).long() if per_node else (x[:, 0].sum() > 0).long()[None]
        made.append(Graph(x=x, edge_index=edges, edge_weight=torch.rand(2 * nodes, generator=generator), y=label))
    return made


def joined_by_hand(graphs):
    """The arguments that PyTorch Geometric passes for a batch, written as its documentation describes them."""
    shift = torch.tensor([0, *[g.num_nodes for g in graphs]]).cumsum(0)
    x = torch.cat([g.parts["x"] for g in graphs])
    edges = torch.cat([g.parts["edge_index"] + shift[i] for i, g in enumerate(graphs)], 1)
    return x, edges, torch.cat([torch.full((g.num_nodes,), i) for i, g in enumerate(graphs)])


def test_padded_graphs_join_to_the_batch_of_pytorch_geometric():
    graphs = some_graphs(5)
    roles = attribute_roles(graphs)
    assert roles == {"x": "nodes", "edge_index": "index", "edge_weight": "edges"}
    joined = join_graphs(pad_graphs(graphs, roles), roles)
    for name, expected in zip(("x", "edge_index", "batch"), joined_by_hand(graphs), strict=True):
        assert torch.equal(joined[name], expected)
    assert torch.equal(joined.edge_weight, torch.cat([g.parts["edge_weight"] for g in graphs]))


@pytest.mark.parametrize("form", ["list", "batch", "loader"])
def test_outputs_have_a_row_for_each_graph(form):
    graphs = some_graphs(6)
    data = {"list": graphs, "batch": Joined(graphs), "loader": DataLoader(graphs, 2, collate_fn=Joined)}[form]
    net = Gin()
    read = adapt_model_and_data(net, data)
    x, y = read.train
    assert read.batch == (2 if form == "loader" else None)
    assert torch.equal(y, torch.cat([g.parts["y"] for g in graphs]))
    assert torch.allclose(outputs_in_eval_mode(read.module, x), net.eval()(*joined_by_hand(graphs)), atol=1e-6)
    assert original_module(read.module) is net and [n for n, _ in read.module.named_parameters()][0] == "first.weight"


def test_outputs_of_nodes_are_positions_and_padding_does_not_count():
    graphs = some_graphs(6, per_node=True)
    net = Gin(pool=False)
    seen = build_subject(net, graphs, None, seed=0)
    assert seen.task.reading.task == "class per node" and seen.task.reading.classes == 3
    few = seen.examples(seen.train.first(6))
    x, edges, _ = joined_by_hand(graphs)
    expected = F.cross_entropy(net.eval()(x, edges), torch.cat([g.parts["y"] for g in graphs]))
    assert seen.loss_of(seen.module(**few.x), few.y).item() == pytest.approx(expected.item(), rel=1e-6)


def test_one_graph_with_masks_has_nodes_as_examples():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(40, 2, generator=generator)
    known = torch.arange(40) < 25
    graph = Graph(x=x, edge_index=torch.randint(40, (2, 80), generator=generator), y=(x[:, 0] > 0).long(),
                  train_mask=known, test_mask=~known)  # fmt: skip
    net = Gin(pool=False).eval()
    seen = build_subject(net, graph, None, seed=0)
    assert (len(seen.train), len(seen.test), seen.task.classes) == (25, 15, 3)
    whole = net(x, graph.parts["edge_index"])
    assert torch.allclose(seen.outputs(seen.test.first(15).x), whole[25:], atol=1e-6)


def test_graphs_of_unequal_sizes_with_numbers_for_nodes_are_refused():
    graphs = [Graph(x=torch.ones(n, 2), edge_index=torch.zeros(2, 1).long(), y=torch.ones(n)) for n in (2, 3)]
    with pytest.raises(InputError, match="one number per node, and the graphs differ"):
        adapt_model_and_data(Gin(pool=False), graphs)


def test_inputs_without_targets_are_padded():
    graphs = some_graphs(3)
    module, x = adapt_inputs(Gin(), graphs)
    assert x["x"].shape == (3, 5, 2) and module(**x).shape == (3, 3)


def test_a_graph_network_is_trained_in_an_examination():
    steps = ArchitectureStep(), TrainingStep()
    data = some_graphs(120), some_graphs(40, seed=1)
    result = gnomon.examine(Gin, *data, budget=5, batch=16, lr=0.02, epochs=5, examination_steps=steps)
    run = result.products.get(TrainingRun)
    assert float(run.loss[-1]) < 0.8 * float(run.loss[0])


def test_the_tangent_kernel_and_signal_of_graphs_agree_with_autograd():
    torch.manual_seed(0)
    graphs, net = some_graphs(3), Gin().double().eval()
    for graph in graphs:
        graph.parts["x"] = graph.parts["x"].double()
    rows = []
    for output in net(*joined_by_hand(graphs)).flatten():
        grads = torch.autograd.grad(output, list(net.parameters()), retain_graph=True)
        rows.append(torch.cat([g.flatten() for g in grads]))
    jacobian = torch.stack(rows).reshape(3, 3, -1)
    expected = torch.einsum("iap,jap->ij", jacobian, jacobian) / 3
    torch.testing.assert_close(gnomon.ntk(net, graphs).double(), expected, rtol=1e-6, atol=1e-8)
    assert [layer.name for layer in signal_propagation(net, graphs).layers] == ["first", "norm", "second"]


def test_one_graph_alone_gives_its_nodes_for_training_and_for_test():
    known = torch.tensor([True, True, False])
    graph = Graph(x=torch.eye(3)[:, :2], edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 1]),
                  train_mask=known, test_mask=~known)  # fmt: skip
    _, train, test = adapt_graph_network(Gin(pool=False), graph)
    assert (train[1].tolist(), test[1].tolist()) == ([0, 1], [1])


def test_instruments_take_graphs_as_they_come():
    graphs, net = some_graphs(4), Gin().eval()
    loss = F.cross_entropy(net(*joined_by_hand(graphs)), torch.cat([g.parts["y"] for g in graphs]))
    slope = sum(g.square().sum().item() for g in torch.autograd.grad(loss, list(net.parameters()), create_graph=True))
    short = 1e-3 * loss.item() / slope
    run = gnomon.predict(net, graphs, times=[0.0, short])
    assert float(run.loss[0] - run.loss[1]) / short == pytest.approx(slope, rel=5e-3)
    found = sharpness(net, Joined(graphs))
    direction = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    product = torch.autograd.grad(sum((g * g.detach()).sum() for g in direction), list(net.parameters()))
    quotient = sum((p * g).sum().item() for p, g in zip(product, direction, strict=True)) / slope
    assert quotient <= found.value * (1 + 1e-4)
    posterior = laplace(net, graphs, parameters="second.*", prior_precision=1.0)
    assert len(posterior.center) == 27 and float(posterior.eigenvalues.sum()) > 0
    assert {layer.name for layer in signal_propagation(net, graphs).layers} == {"first", "norm", "second"}


class NamesItsInputs(nn.Module):
    """As SchNet: takes some attributes of the graphs by name; ``batch`` says which graph a node belongs to."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, pos, batch):
        return torch.zeros(int(batch.max()) + 1, 1).index_add(0, batch, self.fc(pos))


class ReadsTheBatch(NamesItsInputs):
    """As e3nn's networks: takes the whole batch, and reads some of its attributes."""

    def forward(self, data):
        return super().forward(data["pos"] if "pos" in data else data.x, data.batch)


@pytest.mark.parametrize("network", [NamesItsInputs, ReadsTheBatch])
def test_attributes_that_forward_does_not_read_are_no_inputs(network):
    graphs = [Graph(x=torch.ones(3, 4), pos=torch.randn(3, 2), y=torch.ones(1)) for _ in range(4)]
    net, (x, _) = adapt_graph_network(network(), graphs)
    assert sorted(x) == ["node_count", "pos"]
    assert net(**x).shape == (4, 1)


class SumsAlongEdges(nn.Module):
    """Refuses edges to nodes that the batch does not have."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x, edge_index, batch):
        h = torch.zeros(len(x), 1).index_add(0, edge_index[1], self.fc(x)[edge_index[0]])
        return torch.zeros(int(batch.max()) + 1, 1).index_add(0, batch, h)


def test_edges_that_a_network_refuses_are_not_called_ignored():
    def graph(nodes):
        edges = torch.stack((torch.arange(nodes), torch.arange(nodes).flip(0)))
        return Graph(x=torch.randn(nodes, 2), edge_index=edges, y=torch.ones(1))

    net, (x, _) = adapt_graph_network(SumsAlongEdges(), [graph(n) for n in (2, 3, 4, 5)])
    assert ignored_input_findings(net, x) == ()


class _Graph:
    """A graph with targets for its nodes, as a record with `to_dict`."""

    def __init__(self, y):
        self.y, self.num_nodes = y, len(y)

    def to_dict(self):
        return {"y": self.y}


@pytest.mark.parametrize(("dtype", "fill"), [(torch.long, -100)])
def test_targets_of_nodes_are_padded_to_the_largest_graph_of_all_data(dtype, fill, monkeypatch):
    monkeypatch.setattr(graph_view, "_most_nodes", lambda x, roles: 5)
    graphs = [_Graph(torch.tensor([1, 2], dtype=dtype)), _Graph(torch.tensor([3, 4, 5], dtype=dtype))]
    x, y = graph_view._with_targets({}, graphs, None)
    assert y.tolist() == [[1, 2, fill, fill, fill], [3, 4, 5, fill, fill]]
    same = [_Graph(torch.tensor([[0.5], [1.5]])), _Graph(torch.tensor([[2.5], [3.5]]))]
    x, y = graph_view._with_targets({}, same, None)
    assert y[:, :, 0].tolist() == [[0.5, 1.5, 0.0, 0.0, 0.0], [2.5, 3.5, 0.0, 0.0, 0.0]]


def test_numbers_of_whole_graphs_lose_the_axis_of_rows_and_scalars_stay():
    padded = {
        "x": torch.arange(6.0).reshape(2, 3, 1), "node_count": torch.tensor([3, 2]),
        "u": torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]]]), "kind": torch.tensor([5, 6]),
    }  # fmt: skip
    joined = join_graphs(padded, {"x": "nodes", "u": "graph", "kind": "graph"})
    assert joined["u"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and joined["kind"].tolist() == [5, 6]
    assert joined["x"][:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0] and joined["batch"].tolist() == [0, 0, 0, 1, 1]
    assert joined["ptr"].tolist() == [0, 3, 5] and (joined["num_nodes"], joined["num_graphs"]) == (5, 2)
