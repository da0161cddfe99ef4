"""Ranking before training."""

import pytest
from torch import nn

import gnomon
from gnomon.core.clock import Ticking
from gnomon.examination import rank
from tests.examination.patients import cnn, data, perceptron

TRAIN, _ = data(150, 50)


def test_what_suits_images_comes_first():
    def flat():
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    def silent():
        return nn.Sequential(nn.Flatten(), *perceptron(40, gain=0.5))

    ranking = rank({"silent": silent, "line": flat, "cnn": cnn}, TRAIN, examples=120)
    assert ranking.names[-1] == "silent" and not ranking.candidates[-1].trainable
    assert "tells examples apart" in ranking.candidates[-1].reason
    assert ranking.names[0] in ("cnn", "line") and ranking.candidates[0].score > 0.7


def test_nothing_to_rank_is_told():
    with pytest.raises(gnomon.InputError, match="Pass at least one"):
        rank({}, TRAIN)


def test_candidates_beyond_the_budget_are_named():
    """On a clock that moves a second at each look: the first two candidates begin within 2 s."""
    begun = []
    networks = dict.fromkeys("abcd", cnn)
    ranking = rank(
        networks, TRAIN, examples=20, budget=2.0, progress=lambda *told: begun.append(told), clock=Ticking(1.0)
    )
    assert begun == [("a", 0, 4), ("b", 1, 4)] and ranking.unranked == ("c", "d")


def test_the_first_is_judged_and_the_others_are_told():
    ranking = rank({"a": cnn, "b": cnn}, TRAIN, examples=20, budget=1e-9)
    assert ranking.names == ("a",) and ranking.unranked == ("b",) == tuple(ranking.to_dict()["unranked"])
    assert "not ranked, for the time did not suffice: b" in str(ranking)
    assert rank({"a": cnn, "b": cnn}, TRAIN, examples=20).unranked == ()
    with pytest.raises(gnomon.InputError, match="budget must be .* but it is 0"):
        rank({"a": cnn}, TRAIN, budget=0)


def test_the_front_door_has_it():
    assert gnomon.rank is rank
