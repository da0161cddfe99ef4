"""Networks of examples and tutorials, rewritten with the same structure, for the fourth collection."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from evaluation.public_models.cases.text import CHARACTERS


class GraphGps(nn.Module):
    """The network of PyTorch Geometric's example of GraphGPS, for classes of graphs."""

    def __init__(self, channels: int = 32, layers: int = 2) -> None:
        from torch_geometric.nn import GINEConv, GPSConv

        super().__init__()
        self.node_emb, self.pe_lin = nn.Linear(3, channels - 8), nn.Linear(8, 8)
        self.pe_norm = nn.BatchNorm1d(8)
        self.edge_emb = nn.Linear(8, channels)
        self.convs = nn.ModuleList()
        for _ in range(layers):
            inner = nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), nn.Linear(channels, channels))
            self.convs.append(GPSConv(channels, GINEConv(inner, edge_dim=channels), heads=4))
        self.mlp = nn.Sequential(nn.Linear(channels, channels // 2), nn.ReLU(), nn.Linear(channels // 2, 10))

    def forward(self, x: Tensor, pe: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """One row of logits for each graph."""
        from torch_geometric.nn import global_add_pool

        around = self.pe_lin(self.pe_norm(pe))
        edges = self.edge_emb(pe[edge_index[0]])
        x = torch.cat((self.node_emb(x), around), 1)
        for conv in self.convs:
            x = conv(x, edge_index, batch, edge_attr=edges)
        return self.mlp(global_add_pool(x, batch))


class HeteroTransformer(nn.Module):
    """The network of PyTorch Geometric's example of HGT: logits of the nodes of one kind."""

    def __init__(self, channels: int = 32) -> None:
        from torch_geometric.nn import HGTConv

        super().__init__()
        kinds = (["image", "pixel"], [("image", "has", "pixel"), ("pixel", "in", "image")])
        self.lin_dict = nn.ModuleDict({"image": nn.Linear(1, channels), "pixel": nn.Linear(64, channels)})
        self.convs = nn.ModuleList([HGTConv(channels, channels, kinds, 2) for _ in range(2)])
        self.lin = nn.Linear(channels, 10)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Tensor:
        """Logits of the nodes of the kind "image"."""
        x_dict = {kind: self.lin_dict[kind](x).relu_() for kind, x in x_dict.items()}
        for conv in self.convs:
            x_dict = conv(x_dict, edge_index_dict)
        return self.lin(x_dict["image"])


class PackedLstm(nn.Module):
    """The LSTM of bentrevett's tutorial on sentiment, which packs padded texts."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, 32, padding_idx=0)
        self.lstm = nn.LSTM(32, 32, num_layers=2, bidirectional=True, dropout=0.2, batch_first=True)
        self.fc = nn.Linear(64, 4)
        self.dropout = nn.Dropout(0.2)

    def forward(self, ids: Tensor, length: Tensor) -> Tensor:
        """Logits of texts (n, length) with these lengths."""
        embedded = self.dropout(self.embedding(ids))
        packed = nn.utils.rnn.pack_padded_sequence(embedded, length.cpu(), batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        return self.fc(self.dropout(torch.cat((hidden[-1], hidden[-2]), dim=-1)))


class Policy(nn.Module):
    """Actor and critic in one network, as in pytorch/examples: probabilities of actions, and the value of the state."""

    def __init__(self) -> None:
        super().__init__()
        self.affine1 = nn.Linear(4, 128)
        self.action_head, self.value_head = nn.Linear(128, 2), nn.Linear(128, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Of states (n, 4)."""
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


class MetricNet(nn.Module):
    """The network of pytorch-metric-learning's example for MNIST; returns embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3, 1), nn.Conv2d(32, 64, 3, 1)
        self.dropout1, self.dropout2 = nn.Dropout2d(0.25), nn.Dropout2d(0.5)
        self.fc1 = nn.Linear(9216, 128)

    def forward(self, x: Tensor) -> Tensor:
        """Of images (n, 1, 28, 28)."""
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        return self.fc1(torch.flatten(self.dropout1(x), 1))
