"""After masked-token pretraining, fine-tuned heads classify sequences, tokens and answer spans, also of new words.

    W_c x_0,   W_t x_i,   softmax_i(w_s.x_i) and softmax_i(w_e.x_i):   each right in at least 85 %            (1)

x_i is the encoder's output at position i, position 0 is [CLS], and the W and w are the weights of the heads. Words have
one of two moods, or none; a sequence has words of one mood. The encoder learns to fill in masked tokens of unlabeled
sequences, so it learns which words occur together. Fine-tuning gets labels of sequences with half of the words, and is
tested on sequences with the other half. Reference: [devlin2019bert].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, bounded_by

WORDS_PER_MOOD = 8
FIRST_WORD = 3  # token 0 is [CLS], the first of a sequence; tokens 1 and 2 open and close an answer
FIRST_NEUTRAL = FIRST_WORD + 2 * WORDS_PER_MOOD
MASK = FIRST_NEUTRAL + 4  # id of the mask token, equal to the number of other tokens; four of them are neutral words
SEQUENCE_LENGTH = 8


def predicted():
    """Returns 0.85 four times, the lower bounds on the accuracies."""
    return np.full(4, 0.85)


def batch(count, words, coherent):
    """Returns tokens with their mood, whether each token has a mood, and where the answer starts and ends."""
    mood, row = torch.randint(2, (count,)), torch.arange(count)
    word = words[torch.randint(len(words), (count, SEQUENCE_LENGTH))]
    moody = FIRST_WORD + (word + WORDS_PER_MOOD * (mood[:, None] if coherent else torch.randint(2, word.shape)))
    x = torch.where(torch.rand(word.shape) < 0.6, moody, torch.randint(FIRST_NEUTRAL, MASK, word.shape))
    x[:, 0] = 0
    place = torch.rand(count, SEQUENCE_LENGTH - 1).argsort(1)[:, :3] + 1
    edges = place[:, :2].sort(1).values
    x[row, edges[:, 0]], x[row, edges[:, 1]], x[row, place[:, 2]] = 1, 2, moody[row, place[:, 2]]
    return x, (mood, ((x >= FIRST_WORD) & (x < FIRST_NEUTRAL)).long(), edges[:, 0], edges[:, 1])


class ThreeHeadEncoder(nn.Module):
    """One transformer layer, an output that fills in masked tokens, and heads for sequence, tokens and answer span."""

    def __init__(self, width):
        super().__init__()
        self.embed, self.places = nn.Embedding(MASK + 1, width), nn.Parameter(torch.randn(SEQUENCE_LENGTH, width))
        self.layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True, norm_first=True)
        self.fill = nn.Linear(width, MASK)
        self.whole, self.tag, self.span = nn.Linear(width, 2), nn.Linear(width, 2), nn.Linear(width, 2)

    def encode(self, tokens):
        """Returns the encoder's output at each position."""
        return self.layer(self.embed(tokens) + self.places)

    def forward(self, tokens):
        """Returns the outputs of the heads: mood, tags, start and end of the answer."""
        x = self.encode(tokens)
        span = self.span(x)
        return self.whole(x[:, 0]), self.tag(x).transpose(1, 2), span[..., 0], span[..., 1]


def accuracies(coherent, pretraining, steps, seed):
    """Returns the accuracies of the four outputs on words without labels, after pretraining and fine-tuning."""
    torch.manual_seed(seed)
    net, words = ThreeHeadEncoder(32), torch.arange(WORDS_PER_MOOD)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(pretraining + steps):
        if step < pretraining:
            x, _ = batch(64, words, coherent)
            hidden = torch.rand(x.shape) < 0.3
            out = net.fill(net.encode(torch.where(hidden, MASK, x))).mT
            loss = nn.functional.cross_entropy(out, torch.where(hidden, x, -100))  # -100: not counted
        else:
            optimizer.param_groups[0]["lr"] = 3e-3
            x, labels = batch(64, words[::2], coherent=True)
            loss = sum(nn.functional.cross_entropy(out, y) for out, y in zip(net(x), labels, strict=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, labels = batch(1000, words[1::2], coherent=True)
        rights = [(out.argmax(1) == y).double().mean() for out, y in zip(net(x), labels, strict=True)]
    return torch.stack(rights).numpy()


observed = partial(accuracies, coherent=True)  # Pretraining uses sequences of words of a single mood.
control = partial(accuracies, coherent=False)  # Control: pretraining sequences mix both moods, so they teach no moods.

CLAIM = Claim(
    id="bert-finetuning-heads",
    question="What does a pretrained encoder know before it sees labels?",
    equation=r"W_c x_0, \quad W_t x_i, \quad \mathrm{softmax}_i(w_s \cdot x_i)",
    axes=("task (whole sequence, tokens, start, end)", "accuracy on words without labels"),
    source=Source("observed", "devlin2019bert"),
    premises=(Premise("the pretraining sequences show which words belong together"),),
    parameters={"pretraining": 300, "steps": 60},
    full={"pretraining": 1500, "steps": 200},
    judge=bounded_by("below"),
)
