"""Decides whether the scores of a trained network are poor, so that a repair is searched.

>>> is_poor_score((Value("accuracy on test", 0.6, id="accuracy-on-test"), Value("guess", 0.5, id="guess-accuracy")))
True
"""

from gnomon.core.results import Value
from gnomon.examination.fixes.repairs import is_poor_run
from gnomon.examination.subject import Subject
from gnomon.examination.why_not_fitted import is_poor
from gnomon.training import TrainingRun

__all__ = ["has_poor_scores", "is_poor_score"]


def is_poor_score(values: tuple[Value, ...]) -> bool:
    """Returns whether the network makes many errors on test examples (without test examples: on training examples).

    >>> is_poor_score(())
    False
    """
    known = {v.id: float(v.value) for v in values if isinstance(v.value, int | float)}
    own = [known[f"{kind}-on-{data}"] for data in ("test", "train") for kind in ("accuracy", "explained")
           if f"{kind}-on-{data}" in known]  # fmt: skip
    return bool(own) and is_poor(own[0], known.get("guess-accuracy", 0.0))


def has_poor_scores(subject: Subject, run: TrainingRun, values: tuple[Value, ...], seed: int) -> bool:
    """Returns whether the network makes many errors; at positions and for a user's own loss, compared with a guess.

    Cost: without known scores one pass over the held-out examples.

    >>> import torch
    >>> from gnomon.examination.subject import build_subject
    >>> x = torch.randn(80, 3, generator=torch.Generator().manual_seed(0))
    >>> network = build_subject(torch.nn.Linear(3, 2), (x, (x[:, 0] > 0).long()), None, seed=0)
    >>> poor = Value("accuracy on test", 0.6, id="accuracy-on-test"), Value("guess", 0.5, id="guess-accuracy")
    >>> has_poor_scores(network, None, poor, 0)
    True
    """
    known = values and subject.task.reading is None
    return is_poor_score(values) if known else is_poor_run(subject, run, seed)
