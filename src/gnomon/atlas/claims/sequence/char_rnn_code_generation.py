"""A recurrent network predicts the next character of source code one bit better than character frequencies do.

    bits = -mean log2 p(c_t | c_1 ... c_{t-1}) <= H - 1,    H = -sum_c q(c) log2 q(c)                         (1)

c_t are the characters of held-out text, p the network's probabilities and q the character frequencies.
Reference: [karpathy2015visualizing].
"""

from functools import partial
from importlib.resources import files

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by


def data(mixed, seed):
    """Returns source code of this package as numbers, split into training and test part, and the number of letters."""
    folder = files("gnomon.models")
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ("sets.py", "vision.py", "graphs.py"))
    letters = sorted(set(text))
    x = torch.tensor([letters.index(c) for c in text])
    if mixed:
        x = x[torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))]
    return x[: len(x) * 4 // 5], x[len(x) * 4 // 5 :], len(letters)


def predicted(seed):
    """Returns the entropy of characters minus one bit, on the test part, with frequencies of the training part."""
    train, test, letters = data(False, seed)
    q = (np.bincount(train.numpy(), minlength=letters) + 1.0) / (len(train) + letters)
    return float(-np.log2(q)[test.numpy()].mean() - 1)


def bits(mixed, steps, seed):
    """Returns the bits per character of a trained GRU with 64 units on the test part of the text."""
    train, test, letters = data(mixed, seed)
    torch.manual_seed(seed)
    embed, cell, head = nn.Embedding(letters, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, letters)
    optimizer = torch.optim.Adam([p for m in (embed, cell, head) for p in m.parameters()], lr=0.01)
    for _ in range(steps):
        start = torch.randint(len(train) - 50, (32,))
        x = train[start[:, None] + torch.arange(50)]
        out = head(cell(embed(x[:, :-1]))[0])
        loss = nn.functional.cross_entropy(out.flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = head(cell(embed(test[None, :-1]))[0])[0]
        return np.float64(nn.functional.cross_entropy(out, test[1:]) / np.log(2))


observed = partial(bits, mixed=False)  # Source code.
control = partial(bits, mixed=True)  # Control: the same characters in random order, so the past does not help.

CLAIM = Claim(
    id="char-rnn-code-generation",
    question="How well can a small recurrent network predict source code?",
    equation=r"-\overline{\log_2 p(c_t \mid c_{<t})} \le H - 1",
    axes=("one training run", "bits per character"),
    source=Source("observed", "karpathy2015visualizing"),
    premises=(Premise("characters come in the order of the text"),),
    parameters={"steps": 45},
    full={"steps": 600},
    judge=bounded_by(),
)
