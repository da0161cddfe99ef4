"""Shows the texts or segmented images with the largest mean loss over their tokens or pixels."""

from math import floor

import torch
from torch import Tensor

from gnomon.adapter.losses import PositionCrossEntropy
from gnomon.core.inputs.arguments import Inputs, map_tensors, take_examples
from gnomon.examination.positions import PredictionsAtPositions, predictions_at_positions
from gnomon.examination.subject import Subject
from gnomon.examination.task import Examples
from gnomon.report.shown_example import ShownExample, draw_picture, is_picture, show_example

__all__ = ["rank_worst", "show_worst_positions"]

SHOWN_EXAMPLES = 12
"""Maximum number of examples shown."""
MAX_SHOWN_MISTAKES = 3
"""Maximum number of wrong tokens that a note names."""
SHOWN_CONTEXT = 3
"""Number of tokens before a wrong answer that a note repeats."""


def show_worst_positions(
    subject: Subject, loss: PositionCrossEntropy, f: Tensor, examples: Examples, numbers: Tensor, which: str
) -> tuple[Tensor, Tensor, tuple[ShownExample, ...], str, int | None]:
    """Prepares the worst examples for the report, if they have many positions: those with a wrong answer first.

    Returns all errors, the places of the worst examples, what is shown of them, a sentence, and the number of examples
    with a wrong answer, which says nothing of a language model.

    Cost: one pass over the outputs.

    >>> from gnomon.examination.subject import build_subject
    >>> tokens = torch.arange(12).reshape(6, 2) % 4
    >>> examined = build_subject(torch.nn.Embedding(4, 4), (tokens, tokens), None, seed=0)
    >>> loss = PositionCrossEntropy(classes=4, positions=2)
    >>> zeros = torch.zeros(6, 8)
    >>> error, *_ = show_worst_positions(examined, loss, zeros, examined.probe, torch.arange(6), "test")
    >>> round(float(error[0]), 3)  # log 4
    1.386
    """
    decided = predictions_at_positions(loss, f, examples.y)
    error = decided.error()
    mistakes = ((decided.answers != decided.labels) & decided.counted).any(1)
    worst = rank_worst(error, mistakes, SHOWN_EXAMPLES)
    shown = tuple(_show(subject, examples, decided, i, int(numbers[i])) for i in worst.tolist())
    right = float((decided.answers == decided.labels)[decided.counted].double().mean())
    reading = subject.task.reading
    unit = "position" if reading is None else reading.unit
    answer = (
        f"{right:.1%} of the {unit}s of {len(error)} {which} examples are right. The worst example has cross-entropy "
        f"{float(error.max()):.3g} per {unit}; half of the examples have less than {float(error.median()):.3g}."
    )
    language = reading is not None and reading.task == "language model"
    return error, worst, shown, answer, None if language else int(mistakes.sum())


def rank_worst(error: Tensor, mistakes: Tensor, count: int) -> Tensor:
    """Returns the indices of the worst examples: those with a wrong answer first, each group by decreasing error.

    >>> rank_worst(torch.tensor([0.1, 0.6, 0.7, 0.9]), torch.tensor([False, True, False, True]), 3).tolist()
    [3, 1, 2]
    """
    by_error = error.argsort(descending=True, stable=True)
    wrong_first = mistakes[by_error].double().sign().argsort(descending=True, stable=True)
    return by_error[wrong_first][:count].cpu()


def _show(subject: Subject, examples: Examples, decided: PredictionsAtPositions, i: int, number: int) -> ShownExample:
    x = map_tensors(lambda t: t[0], take_examples(examples.x, torch.tensor([i])))
    counted = decided.counted[i]
    right = float((decided.answers[i] == decided.labels[i])[counted].double().mean()) if bool(counted.any()) else 1.0
    loss = float(decided.error()[i])
    shape = tuple(x.shape[-2:]) if isinstance(x, Tensor) and x.dim() >= 2 else ()
    mask = (
        len(shape) == 2 and shape[0] * shape[1] == decided.labels.shape[1] and isinstance(x, Tensor) and is_picture(x)
    )
    if mask:
        note = f"{_share(right)} of the pixels right, loss {loss:.3g}"
        found = show_example(x, number, label="", answer="", note=note)
        pictures = [draw_picture(t[i].reshape(shape).double()) for t in (decided.labels, decided.answers)]
        return ShownExample(number, "", "", note, found.picture, label_picture=pictures[0], answer_picture=pictures[1],
                            words=("label", "answer"))  # fmt: skip
    note = f"{_share(right)} right, loss {loss:.3g}{_mistakes(subject, x, decided, i)}"
    return show_example(x, number, label="", answer="", note=note, vocabulary=subject.vocabulary)


def _share(right: float) -> str:
    """Returns a share in percent, rounded down, so that it is 100 % only if all is right.

    >>> _share(0.9998), _share(1.0)
    ('99.9%', '100%')
    """
    return f"{floor(1000 * right + 1e-9) / 10:g}%"


def _mistakes(subject: Subject, x: Inputs, decided: PredictionsAtPositions, i: int) -> str:
    """Describes the wrong answers with the largest loss: the tokens before them, the right answer, the answer given."""
    wrong = ((decided.answers[i] != decided.labels[i]) & decided.counted[i]).nonzero().flatten()
    if not len(wrong):
        return ""
    worst = wrong[decided.losses[i][wrong].argsort(descending=True)][:MAX_SHOWN_MISTAKES].tolist()
    words = subject.vocabulary

    def name(token: Tensor) -> str:
        return words[int(token)] if 0 <= int(token) < len(words) else str(int(token))

    def place(t: int) -> str:
        seen = x if isinstance(x, Tensor) and x.dim() == 1 and not x.is_floating_point() else None
        if seen is None or t >= len(seen):
            return f"at position {t + 1}"
        last = " ".join(map(name, seen[max(0, t + 1 - SHOWN_CONTEXT) : t + 1]))
        return f"after '{'... ' if t + 1 > SHOWN_CONTEXT else ''}{last}'" if follows else f"for '{last}'"

    reading = subject.task.reading
    follows = reading is not None and reading.task == "language model"
    named = [f"{place(t)}: '{name(decided.answers[i, t])}' instead of '{name(decided.labels[i, t])}'" for t in worst]
    return f"; {', '.join(named)}"
