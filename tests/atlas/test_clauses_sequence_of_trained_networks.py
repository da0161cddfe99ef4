"""Clauses of the scope on what recurrent networks and attention learn in a few hundred steps; the ledger names these."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.atlas.claims.sequence import bert_finetuning_heads, char_rnn_code_generation
from tests.atlas.test_clauses_sequence_attention_and_gates import EncoderDecoder


def adding_task(count, steps, draw):
    """Returns sequences of numbers and marks, and the sum of the two marked numbers, one from each half."""
    x, row = torch.rand(count, steps, 2, generator=draw), torch.arange(count)
    x[:, :, 1] = 0
    places = [k * (steps // 2) + torch.randint(steps // 2, (count,), generator=draw) for k in (0, 1)]
    for place in places:
        x[row, place, 1] = 1
    return x, x[row, places[0], 0] + x[row, places[1], 0]


@pytest.mark.full
def test_an_lstm_learns_the_adding_task_and_an_elman_network_does_not():
    """lstm-long-memory: T = 50, forget bias 1: squared error <= 0.02 for the LSTM, >= 0.1 for Elman, in all of 3 runs."""
    for kind, judge in ((nn.LSTM, lambda e: e <= 0.02), (nn.RNN, lambda e: e >= 0.1)):
        right = 0
        for seed in range(3):
            draw = torch.Generator().manual_seed(seed)
            torch.manual_seed(seed)
            cell, head = kind(2, 32, batch_first=True), nn.Linear(32, 1)
            if kind is nn.LSTM:
                cell.bias_ih_l0.data[32:64] = 1
            parameters = [*cell.parameters(), *head.parameters()]
            optimizer = torch.optim.Adam(parameters, 1e-2)
            for _ in range(900):
                x, y = adding_task(32, 50, draw)
                optimizer.zero_grad()
                (head(cell(x)[0][:, -1])[:, 0] - y).square().mean().backward()
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
            x, y = adding_task(1000, 50, draw)
            with torch.no_grad():
                right += judge(float((head(cell(x)[0][:, -1])[:, 0] - y).square().mean()))
        assert right == 3, kind


@pytest.mark.full
def test_a_recurrent_network_predicts_code_better_than_counted_trigrams():
    """char-rnn-code-generation: bits per character of the GRU after 300 steps < those of trigrams that back off to pairs."""
    train, test, letters = char_rnn_code_generation.data(False, 0)
    k, t = train.numpy(), test.numpy()
    single = np.bincount(k, minlength=letters) + 1.0
    pairs, triples = np.zeros((letters,) * 2), np.zeros((letters,) * 3)
    np.add.at(pairs, (k[:-1], k[1:]), 1)
    np.add.at(triples, (k[:-2], k[1:-1], k[2:]), 1)
    one = single / single.sum()
    two = (pairs + one) / (pairs.sum(1, keepdims=True) + 1)
    three = (triples + two[None]) / (triples.sum(2, keepdims=True) + 1)
    bits = -np.log2(three[t[:-2], t[1:-1], t[2:]]).mean()
    assert char_rnn_code_generation.bits(False, 300, 0) < bits < -np.log2(one[t]).mean() - 1


@pytest.mark.full
def test_attention_restores_what_the_last_state_of_an_encoder_loses_on_reversed_letters():
    """seq2seq-encoder-decoder: reversal at length 20: accuracy >= 0.94 with attention, <= 0.7 without; >= 0.9 at length 5."""
    found = {}
    for attends, length, steps in ((True, 20, 800), (False, 20, 800), (False, 5, 300)):
        torch.manual_seed(0)
        net = EncoderDecoder(attends, 32, 8)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = 1e-2 * (1 - step / steps) + 1e-4
            x = torch.randint(8, (32, length))
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x, x.flip(1)).flatten(0, 1), x.flip(1).flatten()).backward()
            optimizer.step()
        with torch.no_grad():
            x = torch.randint(8, (300, length))
            found[attends, length] = float((net(x, x.flip(1)).argmax(2) == x.flip(1)).double().mean())
    assert found[True, 20] >= 0.94 and found[False, 20] <= 0.7 and found[False, 5] >= 0.9, found


@pytest.mark.full
def test_fine_tuned_heads_are_right_in_nine_of_ten_cases_after_more_steps():
    """bert-finetuning-heads: label, tags, start and end of the answer: each accuracy >= 0.9 after 150 steps of fine-tuning."""
    assert float(bert_finetuning_heads.accuracies(True, 300, 150, 0).min()) >= 0.9
