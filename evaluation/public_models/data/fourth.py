"""Data of the fourth collection: series with features, prompts with masks, paths of a cart, graphs, ratings, rows."""

import torch
from torch import Tensor
from torch.nn import functional as F

from evaluation.public_models.case import Data
from evaluation.public_models.data.graphs import digit_graphs
from evaluation.public_models.data.images import digits, small_digits
from evaluation.public_models.data.text import lines


def _split(whole: dict[str, Tensor], test: int) -> Data:
    return Data({k: v[test:] for k, v in whole.items()}, {k: v[:test] for k, v in whole.items()})


def prompts(seed: int, size: int = 16) -> Data:
    """Two digits side by side, the name of one of them as a text, and its pixels as labels of 0 and 1; dicts."""
    x, y, xt, yt = digits(seed, 1600, 400, size, 3)
    generator = torch.Generator().manual_seed(seed)

    def part(images: Tensor, labels: Tensor) -> dict[str, Tensor]:
        images, labels = (whole[: len(whole) // 2 * 2] for whole in (images, labels))
        pairs, names = images.reshape(-1, 2, 3, size, size), labels.reshape(-1, 2)
        kept = names[:, 0] != names[:, 1]
        pairs, names = pairs[kept], names[kept]
        side = torch.randint(2, (len(names),), generator=generator)
        shown = (pairs[:, :, 0] > 0.3).float() * F.one_hot(side, 2)[:, :, None, None]
        whole = pairs.permute(0, 2, 3, 1, 4).reshape(len(names), 3, size, 2 * size)
        mask = shown.permute(0, 2, 1, 3).reshape(len(names), size, 2 * size)
        wanted = names[torch.arange(len(names)), side]
        text = torch.stack((torch.ones_like(wanted), wanted + 2, torch.full_like(wanted, 12)), 1)
        pad = (0, 0, size // 2, size // 2)
        return {"input_ids": text, "pixel_values": F.pad(whole, pad), "labels": F.pad(mask, pad)}

    return Data(part(x, y), part(xt, yt))


def cart_paths(seed: int, count: int = 1000, length: int = 12) -> Data:
    """Paths of a cart that is pushed towards zero: dicts for the decision transformer, and the pushes as targets."""
    generator = torch.Generator().manual_seed(seed)
    place, speed = torch.randn(count, 2, generator=generator).unbind(1)
    skill = torch.rand(count, generator=generator)
    states, actions, rewards = [], [], []
    for _ in range(length):
        noise = torch.randn(count, generator=generator)
        push = torch.tanh(-skill * (place + 2 * speed) + 0.3 * (1 - skill) * noise)
        states.append(torch.stack((place, speed), 1))
        actions.append(push[:, None])
        rewards.append(-place.square())
        speed = speed + 0.3 * push
        place = place + 0.3 * speed
    gains = torch.stack(rewards, 1)
    inputs = {
        "states": torch.stack(states, 1), "actions": torch.stack(actions, 1), "rewards": gains[..., None],
        "returns_to_go": gains.flip(1).cumsum(1).flip(1)[..., None] / 10,
        "timesteps": torch.arange(length).expand(count, -1).contiguous(),
        "attention_mask": torch.ones(count, length, dtype=torch.long),
    }  # fmt: skip
    whole = _split(inputs, 200)
    pushes = inputs["actions"]
    return Data((whole.train, pushes[200:]), (whole.test, pushes[:200]))


def walked_graphs(seed: int) -> Data:
    """Graphs of digits with the probabilities of random walks that return, as the example of GraphGPS prepares them."""
    from torch_geometric.loader import DataLoader
    from torch_geometric.transforms import AddRandomWalkPE

    plain, add = digit_graphs(seed), AddRandomWalkPE(walk_length=8, attr_name="pe")
    train, test = ([add(graph) for graph in loader.dataset] for loader in (plain.train, plain.test))
    return Data(DataLoader(train, batch_size=32, shuffle=True), DataLoader(test, batch_size=100))


def papers_and_words(seed: int) -> Data:
    """One graph with two kinds of nodes: images, whose classes are wanted, and pixels that images contain."""
    from torch_geometric.data import HeteroData

    x, y, xt, yt = small_digits(seed)
    pixels, labels = torch.cat((x, xt)).flatten(1)[:1200], torch.cat((y, yt))[:1200]
    image, pixel = (pixels > 0.5).nonzero().T
    graph = HeteroData()
    graph["image"].x, graph["image"].y = torch.ones(len(pixels), 1), labels
    graph["pixel"].x = torch.eye(64)
    graph["image", "has", "pixel"].edge_index = torch.stack((image, pixel))
    graph["pixel", "in", "image"].edge_index = torch.stack((pixel, image))
    known = torch.zeros(len(labels), dtype=torch.bool)
    known[:600] = True
    graph["image"].train_mask, graph["image"].test_mask = known, ~known
    return Data(graph, None, scored=[graph])


def clicks(seed: int, count: int = 6000) -> Data:
    """Four categories of each example (user, item, hour, device), and whether the user clicked, 0 or 1, (n,)."""
    generator = torch.Generator().manual_seed(seed)
    sizes = (60, 40, 24, 3)
    fields = torch.stack([torch.randint(n, (count,), generator=generator) for n in sizes], 1)
    tastes = [torch.randn(n, 3, generator=generator) for n in sizes]
    user, item, hour, device = (tastes[i][fields[:, i]] for i in range(4))
    score = (user * item).sum(1) + 0.5 * (hour * device).sum(1) + user[:, 0]
    clicked = (torch.rand(count, generator=generator) < torch.sigmoid(2 * score)).float()
    return Data((fields[1000:], clicked[1000:]), (fields[:1000], clicked[:1000]))


def conditions(seed: int, count: int = 3000) -> Data:
    """A number from -1 to 1 as condition, and a point on a crescent whose bend depends on it: pairs (n, 1), (n, 2)."""
    generator = torch.Generator().manual_seed(seed)
    c = 2 * torch.rand(count, 1, generator=generator) - 1
    a, b = torch.randn(2, count, 1, generator=generator)
    x = torch.cat((a, 2 * c * a.square() + 0.2 * b), 1)
    return Data((c[500:], x[500:]), (c[:500], x[:500]))


def texts_with_lengths(seed: int) -> Data:
    """Lines of code (n, length), the lengths of the lines, and their classes, as ((ids, lengths), classes)."""
    plain = lines()(seed)
    return Data(*(((p["input_ids"], p["attention_mask"].sum(1)), p["labels"]) for p in (plain.train, plain.test)))


def pole_steps(seed: int, count: int = 4000) -> Data:
    """States of a cart with a pole, and as targets a pair: the push that balances it, and the return that follows."""
    generator = torch.Generator().manual_seed(seed)
    x = 0.5 * torch.randn(count, 4, generator=generator)
    push = (x[:, 2] + 0.5 * x[:, 3] + 0.1 * x[:, 0] > 0).long()
    returns = 1 - x[:, 2].square() - 0.2 * x[:, 0].square() + 0.1 * torch.randn(count, generator=generator)
    return Data((x[800:], (push[800:], returns[800:])), (x[:800], (push[:800], returns[:800])))


def tensor_frames(seed: int) -> Data:
    """A table with five columns of numbers and two of categories as loaders of pytorch-frame; three classes."""
    import pandas as pd
    import torch_frame
    from torch_frame.data import DataLoader, Dataset

    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(3000, 5, generator=generator)
    kinds = torch.randint(4, (3000, 2), generator=generator)
    score = values[:, 0] * (kinds[:, 0] - 1.5) + values[:, 1] + 0.5 * (kinds[:, 1] == 2)
    table = pd.DataFrame({f"number_{i}": values[:, i].numpy() for i in range(5)})
    table["color"], table["shape"] = [pd.Series(kinds[:, i].numpy()).map("abcd".__getitem__) for i in range(2)]
    table["y"] = torch.bucketize(score, score.quantile(torch.tensor([0.33, 0.67]))).numpy()
    stypes = {name: torch_frame.numerical if name.startswith("number") else torch_frame.categorical for name in table}
    frame = Dataset(table, stypes, target_col="y").materialize().tensor_frame
    return Data(DataLoader(frame[600:], batch_size=128, shuffle=True), DataLoader(frame[:600], batch_size=200))
