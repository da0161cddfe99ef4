"""Networks for one graph with several types of nodes, as PyTorch Geometric passes them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_model_and_data
from gnomon.adapter.typed_graphs import adapt_typed_graph
from gnomon.core.errors import InputError

PAPERS = {
    "x": torch.arange(8.0).reshape(4, 2),
    "y": torch.tensor([0, 1, 1, 0]),
    "train_mask": torch.tensor([True, True, False, False]),
    "test_mask": torch.tensor([False, False, False, True]),
}
AUTHORS = {"x": torch.ones(3, 2)}
EDGES = torch.tensor([[0, 1, 2, 2], [0, 1, 2, 3]])


def graph() -> Any:
    """Four papers with classes and three authors."""
    stores, names = [PAPERS, AUTHORS], ["paper", "author"]
    features = {name: store["x"] for name, store in zip(names, stores, strict=True)}
    return SimpleNamespace(
        node_types=names, node_stores=stores, x_dict=features, edge_index_dict={("author", "paper"): EDGES}
    )


class Network(nn.Module):
    """Adds to each paper the features of its authors; ``by_type`` returns the outputs of both types."""

    def __init__(self, *, by_type: bool = False) -> None:
        super().__init__()
        self.head, self.by_type = nn.Linear(2, 2), by_type

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Any:
        authors, papers = edge_index_dict["author", "paper"]
        papers_with_authors = x_dict["paper"].index_add(0, papers, x_dict["author"][authors])
        found = self.head(papers_with_authors)
        return {"author": self.head(x_dict["author"]), "paper": found} if self.by_type else found


@pytest.mark.parametrize("by_type", [False, True])
def test_each_node_with_a_class_is_an_example(by_type: bool) -> None:
    net, data = Network(by_type=by_type), graph()
    adapted = adapt_model_and_data(net, data)
    inputs, classes = adapted.train
    assert inputs["node"].tolist() == [0, 1] and classes.tolist() == [0, 1]
    returned = net(data.x_dict, data.edge_index_dict)
    whole = returned["paper"] if by_type else returned
    assert torch.equal(adapted.module(**inputs), whole[:2])
    assert torch.equal(adapted.module(**adapted.test[0]), whole[3:])


def test_features_of_an_example_change_its_own_output() -> None:
    adapted = adapt_model_and_data(Network(), graph())
    inputs = adapted.train[0]
    moved = adapted.module(node=inputs["node"], x=inputs["x"] + torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    before = adapted.module(**inputs)
    assert torch.equal(moved[1], before[1]) and not torch.allclose(moved[0], before[0])


def test_an_argument_that_the_graph_does_not_have_is_named() -> None:
    class Needs(Network):
        def forward(self, x_dict: Any, edge_weight_dict: Any) -> Tensor:
            return x_dict["paper"]

    view, (inputs, _), _ = adapt_typed_graph(Needs(), graph(), None)  # type: ignore[misc]
    with pytest.raises(InputError, match="'edge_weight_dict'"):
        view(**inputs)
