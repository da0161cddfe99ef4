"""Graphs of images of digits, and clusters of points with an energy."""

import torch
from torch import Tensor

from evaluation.public_models.case import Data
from evaluation.public_models.data.images import small_digits


def _neighbors(places: Tensor, reach: float) -> Tensor:
    distances = torch.cdist(places, places)
    return ((distances <= reach) & (distances > 0)).nonzero().T.contiguous()


def _grid() -> Tensor:
    steps = torch.arange(8.0)
    return torch.stack(torch.meshgrid(steps, steps, indexing="ij"), -1).reshape(-1, 2)


def _loaders(train: list, test: list, batch: int = 32) -> Data:
    from torch_geometric.loader import DataLoader

    return Data(DataLoader(train, batch_size=batch, shuffle=True), DataLoader(test, batch_size=100))


def digit_graphs(seed: int) -> Data:
    """One graph for each image: its inked pixels, joined to their neighbors; the class is the digit."""
    from torch_geometric.data import Data as Graph

    x, y, xt, yt = small_digits(seed)
    places = _grid()

    def graph(image: Tensor, label: Tensor):
        ink = image.flatten()
        kept = ink > 0.2
        nodes = places[kept]
        edges = _neighbors(nodes, 1.5)
        lengths = (nodes[edges[0]] - nodes[edges[1]]) / 2
        features = torch.cat((ink[kept, None], nodes / 4 - 1), 1)
        return Graph(x=features, edge_index=edges, edge_attr=lengths, y=label[None])

    pairs = ((x[:1000], y[:1000]), (xt[:300], yt[:300]))
    return _loaders(*([graph(image, label) for image, label in zip(*pair, strict=True)] for pair in pairs))


def pixel_graphs(seed: int) -> Data:
    """One graph for each image, with all pixels and noise; each node's class says whether there is ink."""
    from torch_geometric.data import Data as Graph

    x, _, xt, _ = small_digits(seed)
    places = _grid()
    edges = _neighbors(places, 1.5)
    generator = torch.Generator().manual_seed(seed)

    def graph(image: Tensor):
        ink = image.flatten()
        noisy = ink + 0.4 * torch.randn(64, generator=generator)
        return Graph(x=torch.cat((noisy[:, None], places / 4 - 1), 1), edge_index=edges, y=(ink > 0.4).long())

    return _loaders([graph(image) for image in x[:1000]], [graph(image) for image in xt[:300]])


def neighbor_graph(seed: int) -> Data:
    """One graph whose nodes are images, joined to the five most similar; a tenth of the classes is known."""
    from torch_geometric.data import Data as Graph

    x, y, xt, yt = small_digits(seed)
    pixels, labels = torch.cat((x, xt)).flatten(1), torch.cat((y, yt))
    nearest = torch.cdist(pixels, pixels).topk(6, largest=False).indices[:, 1:]
    edges = torch.stack((nearest.flatten(), torch.arange(len(pixels)).repeat_interleave(5)))
    edges = torch.cat((edges, edges.flip(0)), 1).unique(dim=1)
    known = torch.zeros(len(labels), dtype=torch.bool)
    known[: len(labels) // 10] = True
    whole = Graph(x=pixels, edge_index=edges, y=labels, train_mask=known, test_mask=~known)
    return Data(whole, None, scored=[whole])


def clusters(seed: int) -> Data:
    """Clusters of seven points with atomic numbers; the target is the mean pair energy, standardized (n,)."""
    from torch_geometric.data import Data as Graph

    generator = torch.Generator().manual_seed(seed)
    count, size = 1500, 7
    places = 1.2 * torch.randn(count, size, 3, generator=generator)
    kinds = torch.randint(1, 4, (count, size), generator=generator)
    distances = torch.cdist(places, places) + 10 * torch.eye(size)
    strengths = (kinds[:, :, None] * kinds[:, None, :]).float()
    energies = (strengths * torch.exp(-distances)).sum((1, 2))
    energies = (energies - energies.mean()) / energies.std()
    charges = torch.nn.functional.one_hot(kinds, 4)[..., 1:].float()
    graphs = [Graph(z=kinds[i], pos=places[i], x=charges[i], y=energies[i : i + 1]) for i in range(count)]
    return _loaders(graphs[300:], graphs[:300])


def moving_points(seed: int) -> Data:
    """Five points with a kind that attract each other: kinds and places now, and places some time later."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(0, 3, (1200, 5), generator=generator)
    start = torch.randn(1200, 5, 3, generator=generator)
    places = start
    for _ in range(5):
        apart = places[:, None] - places[:, :, None]
        force = (kinds[:, None] - 1)[..., None] * apart / (1 + apart.square().sum(-1, keepdim=True))
        places = places + 0.1 * force.sum(2)
    return Data(((kinds[200:], start[200:]), places[200:]), ((kinds[:200], start[:200]), places[:200]))
