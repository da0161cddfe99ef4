"""Words in pieces, pairs of sentences, and how much memory gradients of a neural ODE take."""

import torch
from torch import nn

from gnomon.models import NeuralODE
from gnomon.models.ode import runge_kutta
from gnomon.models.tokens import sentence_pair, word_pieces


def test_words_are_cut_by_the_longest_piece():
    """bert-input-format: piece_i = the longest in the vocabulary; "abcd" is ab ##c ##d though a ##bcd is shorter."""
    vocabulary = {"a", "ab", "##c", "##d", "##bcd", "un", "##able"}
    assert word_pieces("abcd", vocabulary) == ["ab", "##c", "##d"]
    assert word_pieces("unable", vocabulary) == ["un", "##able"]
    assert word_pieces("able", vocabulary) == ["[UNK]"] and word_pieces("", vocabulary) == []
    tokens, segments = sentence_pair(["ab", "##c"], ["un"])
    assert tokens == ["[CLS]", "ab", "##c", "[SEP]", "un", "[SEP]"] and segments == [0, 0, 0, 0, 1, 1]
    assert sentence_pair(["a"]) == (["[CLS]", "a", "[SEP]"], [0, 0, 0])


def saved(run):
    """Numbers kept for the backward pass."""
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        run()
    return sum(kept)


def test_the_adjoint_keeps_the_same_for_any_number_of_steps():
    """neural-ode-claims: memory does not grow with the steps, that of backpropagation does."""
    torch.manual_seed(0)
    field, x = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), torch.randn(5, 3)
    adjoint = [saved(lambda s=s: NeuralODE(field, integration_steps=s)(x)) for s in (4, 16)]
    plain = [saved(lambda s=s: runge_kutta(lambda t, h: field(h), x, steps=s)) for s in (4, 16)]
    assert adjoint[0] == adjoint[1] and plain[1] > 3.5 * plain[0]
