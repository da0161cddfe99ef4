"""Sequences of tokens, and bags of words."""

import torch

from evaluation.faults.data.split import split_at


def topic_tokens(n=3000, m=1000, length=24, vocabulary=200, seed=0):
    """Four topics; a third of the tokens are drawn from the words of the topic."""
    g = torch.Generator().manual_seed(seed)
    words = torch.randint(4, vocabulary, (4, 20), generator=g)

    def draw(k):
        y = torch.randint(0, 4, (k,), generator=g)
        x = torch.randint(4, vocabulary, (k, length), generator=g)
        topical = words[y].gather(1, torch.randint(0, 20, (k, length), generator=g))
        return torch.where(torch.rand(k, length, generator=g) < 0.33, topical, x), y

    return draw(n), draw(m)


def markov_text(n=1500, m=300, seed=0, length=32, vocabulary=60):
    """Sentences in which each word has five likely successors, and the next word at each position."""
    g = torch.Generator().manual_seed(seed)
    follow = torch.randint(0, vocabulary, (vocabulary, 5), generator=g)
    words = torch.zeros(n + m, length + 1, dtype=torch.long)
    words[:, 0] = torch.randint(0, vocabulary, (n + m,), generator=g)
    for t in range(length):
        likely = follow[words[:, t], torch.randint(0, 5, (n + m,), generator=g)]
        anything = torch.randint(0, vocabulary, (n + m,), generator=g)
        words[:, t + 1] = torch.where(torch.rand(n + m, generator=g) < 0.1, anything, likely)
    return split_at(words[:, :-1], words[:, 1:], n)


def reviews(n=2400, m=600, seed=0, length=40, vocabulary=500, named=False):
    """Three opinions, expressed by words that a "not" reverses; random lengths, padded with 0.

    ``named`` passes token ids and the attention mask by name.
    """
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 3, (k,), generator=g)
    x = torch.randint(30, vocabulary, (k, length), generator=g)
    size = torch.randint(12, length + 1, (k, 1), generator=g)
    for _ in range(4):
        at = (torch.rand(k, generator=g) * (size[:, 0] - 2)).long()
        negated = torch.rand(k, generator=g) < 0.3
        opinion = torch.where(negated, 2 - y, y)
        x[torch.arange(k), at + 1] = 3 + 8 * opinion + torch.randint(0, 8, (k,), generator=g)
        x[torch.arange(k), at] = torch.where(negated & (y != 1), torch.ones(k).long(), x[torch.arange(k), at])
    keep = torch.arange(length) < size
    x = torch.where(keep, x, 0)
    return split_at({"input_ids": x, "attention_mask": keep.long()} if named else x, y, n)


def shop_requests(n=2400, m=600, seed=0, length=30, vocabulary=2000):
    """Requests with five intents; word frequencies fall like 1 / rank, 700 words never occur, 0 pads."""
    g = torch.Generator().manual_seed(seed)
    k = n + m
    y = torch.randint(0, 5, (k,), generator=g)
    frequency = 1 / (2 + torch.arange(vocabulary).float())
    frequency[0], frequency[-700:] = 0, 0
    by_intent = frequency.repeat(5, 1)
    for c in range(5):
        by_intent[c, 20 + c : 400 : 5] *= 9
    x = torch.multinomial(by_intent[y], length, replacement=True, generator=g)
    size = torch.randint(8, length + 1, (k, 1), generator=g)
    return split_at(torch.where(torch.arange(length) < size, x, 0), y, n)


def reversed_digits(n=2500, m=500, seed=0, length=10, ignore=False):
    """Digits, and the same digits backwards: one label per position; ``ignore`` gives the last positions label -100."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 8, (n + m, length), generator=g)
    y = x.flip(1).clone()
    if ignore:
        y[torch.arange(length) >= torch.randint(6, length + 1, (n + m, 1), generator=g)] = -100
    return split_at(x, y, n)


def tfidf(n=1500, m=400, seed=0, words=800):
    """TF-IDF weights of words for four subjects; most weights are 0."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n + m,), generator=g)
    frequency = 1 / (3 + torch.arange(words).float())
    by_subject = frequency * (torch.rand(4, words, generator=g) < 0.15) * 6 + frequency
    drawn = torch.multinomial(by_subject[y], 60, replacement=True, generator=g)
    tf = torch.zeros(n + m, words).scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float))
    x = tf * torch.log((n + m) / (1 + (tf > 0).sum(0)))
    return split_at(x / x.norm(dim=1, keepdim=True) * 28, y, n)
