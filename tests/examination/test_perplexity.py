"""Perplexity and bits per token of a trained language model, from a run whose losses are known."""

from math import exp, log2

import pytest
import torch
from torch import nn

from gnomon.adapter.reading import OutputMeaning
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import examine
from gnomon.examination.perplexity import perplexity_values, verdict_with_perplexity
from gnomon.examination.steps import STEPS
from gnomon.training import train

TOKENS = torch.randint(5, (40, 9), generator=torch.Generator().manual_seed(0))
LANGUAGE = OutputMeaning("language model", 8, 5)


class Bigrams(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 5)

    def forward(self, tokens):
        return self.table(tokens)


def run_of(*losses):
    run = train(nn.Linear(1, 1), (torch.ones(4, 1), torch.ones(4)), test=(torch.ones(4, 1), torch.ones(4)), steps=1)
    train_loss, test_loss = losses
    run.curves.loss[:], run.curves.test_loss[:] = train_loss, test_loss
    return run


def test_perplexity_is_the_exponential_of_the_loss_and_bits_its_binary_logarithm():
    values = {v.id: v.value for v in perplexity_values(run_of(1.5, 2.5), LANGUAGE)}
    assert values == pytest.approx({
        "training-perplexity": exp(1.5), "training-bits": log2(exp(1.5)), "test-perplexity": exp(2.5),
        "test-bits": log2(exp(2.5)),
    }, rel=1e-6)  # fmt: skip
    said = verdict_with_perplexity(run_of(1.5, 2.5), LANGUAGE)
    assert said.endswith(
        " The perplexity is 4.48 on training tokens (2.16 bits per token) and 12.2 on test tokens (3.61 bits per token)."
    )


def test_other_models_have_no_perplexity():
    run = run_of(1.5, 2.5)
    for reading in (None, OutputMeaning("class per position", 8, 5), OutputMeaning("class per pixel", 8, 5)):
        assert perplexity_values(run, reading) == () and verdict_with_perplexity(run, reading) == run.verdict


def test_a_report_states_perplexity_next_to_the_share_of_right_tokens():
    data, keep = (TOKENS[:, :-1], TOKENS[:, 1:]), {"architecture", "data", "training"}
    steps = [step for step in STEPS if step.key in keep]
    found = examine(Bigrams, data, data, budget=60, epochs=3, batch=8, clock=FakeClock(0.0), examination_steps=steps)
    section = found.section("training")
    assert section.value("test-perplexity").value == pytest.approx(exp(section.value("test-loss").value), rel=1e-4)
    assert "right" in section.answer and "bits per token" in section.answer
