"""Perplexity and bits per token of a language model that was trained, for the section on training.

perplexity = exp(L),    bits per token = L / log 2,    L the recorded cross-entropy, a mean over tokens       (1)
"""

from math import exp, log

from gnomon.adapter.reading import OutputMeaning
from gnomon.core.results import Value
from gnomon.training import TrainingRun

__all__ = ["perplexity_values", "sentence_of_perplexity", "verdict_with_perplexity"]

LARGEST_LOSS = 700.0
"""The exponential of larger losses overflows."""


def verdict_with_perplexity(run: TrainingRun, reading: OutputMeaning | None) -> str:
    """Returns the verdict of a run; for language models also perplexity and bits per token.

    >>> import torch
    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=5)
    >>> "bits per token" in verdict_with_perplexity(run, OutputMeaning("language model"))
    True
    """
    losses = _token_losses(run, reading)
    return run.verdict + ("" if losses is None else sentence_of_perplexity(*losses))


def sentence_of_perplexity(train: float, test: float | None) -> str:
    """Returns a sentence on the perplexity of training and test tokens, from their cross-entropies.

    See equation (1) of the module docstring.

    >>> sentence_of_perplexity(2.0, 3.0)
    ' The perplexity is 7.39 on training tokens (2.89 bits per token) and 20.1 on test tokens (4.33 bits per token).'
    """
    both = [("training", train)] + ([] if test is None else [("test", test)])
    parts = [f"{_perplexity(loss):.3g} on {name} tokens ({loss / log(2):.3g} bits per token)" for name, loss in both]
    return f" The perplexity is {' and '.join(parts)}."


def perplexity_values(run: TrainingRun, reading: OutputMeaning | None) -> tuple[Value, ...]:
    """Returns perplexity and bits per token of a language model as values of the report; none for other models.

    >>> import torch
    >>> from gnomon.training import SGD, train
    >>> batch = torch.ones(8, 2), torch.zeros(8).long()
    >>> run = train(torch.nn.Linear(2, 3), batch, optimizer=SGD(0.1), steps=5)
    >>> [value.name for value in perplexity_values(run, OutputMeaning("language model"))]
    ['training perplexity', 'training bits per token']
    """
    losses = _token_losses(run, reading)
    if losses is None:
        return ()
    found: list[Value] = []
    for name, loss in zip(("training", "test"), losses, strict=True):
        if loss is not None:
            found.append(Value(f"{name} perplexity", _perplexity(loss), id=f"{name}-perplexity"))
            found.append(Value(f"{name} bits per token", loss / log(2), id=f"{name}-bits"))  # (1)
    return tuple(found)


def _perplexity(loss: float) -> float:
    return exp(min(loss, LARGEST_LOSS))  # (1)


def _token_losses(run: TrainingRun, reading: OutputMeaning | None) -> tuple[float, float | None] | None:
    """Returns the last losses on training and test tokens; None for other models, and if training diverged."""
    if reading is None or reading.task != "language model" or run.diverges:
        return None
    return float(run.loss[-1]), None if run.test_loss is None else float(run.test_loss[-1])
