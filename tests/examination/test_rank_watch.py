"""Ranking before training, and watching during it."""

import csv
import importlib

import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.clock import Ticking
from gnomon.examination import rank, watch
from tests.examination.patients import cnn, data, perceptron

TRAIN, _ = data(150, 50)
watching = importlib.import_module("gnomon.examination.watch")  # the module, not the function of its name


def test_what_suits_images_comes_first():
    def flat():
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    def silent():
        return nn.Sequential(nn.Flatten(), *perceptron(40, gain=0.5))

    found = rank({"silent": silent, "line": flat, "cnn": cnn}, TRAIN, examples=120)
    assert found.names[-1] == "silent" and not found.candidates[-1].trainable
    assert "tells examples apart" in found.candidates[-1].reason
    assert found.names[0] in ("cnn", "line") and found.candidates[0].score > 0.7


def test_nothing_to_rank_is_told():
    with pytest.raises(gnomon.InputError, match="at least one network"):
        rank({}, TRAIN)


class Board:
    def __init__(self):
        self.seen = []

    def add_scalar(self, name, value, step):
        self.seen.append((name, value, step))


class Wandb:
    def __init__(self):
        self.seen = []

    def log(self, values, step):
        self.seen.append((values, step))


def loop(net, w, steps=7):
    x, y = TRAIN
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(x.float()), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        w.step(loss)


def test_a_plain_loop_is_watched(tmp_path):
    net = cnn()
    w = watch(net, TRAIN, every=3, cost=1.0, log=tmp_path / "w.csv", clock=Ticking(0.0))
    loop(net, w)
    assert [r["step"] for r in w.rows] == [0, 3, 6]
    assert w.rows[0]["kernel drift"] == 0 and w.rows[-1]["kernel drift"] > 0
    rows = list(csv.DictReader((tmp_path / "w.csv").read_text().splitlines()))
    assert [r["step"] for r in rows] == ["0", "3", "6"] and float(rows[1]["sharpness"]) != 0


def test_writers_are_known_by_what_they_do():
    for log, seen in ((Board(), "gnomon/kernel drift"), (Wandb(), "gnomon/kernel drift")):
        net = cnn()
        loop(net, watch(net, TRAIN, every=1, cost=1.0, log=log), 1)
        assert seen in str(log.seen)
    with pytest.raises(gnomon.InputError, match="a path, a writer or a function"):
        watch(cnn(), TRAIN, log=3)


def test_the_share_of_time_spent_is_as_promised(monkeypatch):
    """On a clock of our own: steps of 0.1 s, measurements of 1 s, so one in 200 steps at 5 %."""
    clock = Ticking(0.0)

    def measured(*given, **options):
        clock.now += 1.0
        return real(*given, **options)

    real = watching.ntk
    monkeypatch.setattr(watching, "ntk", measured)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    w = watch(net, TRAIN, every=1, cost=0.05, clock=clock)
    for _ in range(1000):
        clock.now += 0.1
        w.step()
    assert 4 <= len(w.rows) <= 7
    assert w.spent <= 0.05 * clock.now + 1.0


def test_missing_trainers_name_themselves(monkeypatch):
    import sys

    for name in ("lightning", "lightning.pytorch", "pytorch_lightning", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    w = watch(cnn(), TRAIN)
    with pytest.raises(gnomon.MissingExtraError, match="lightning"):
        w.lightning()
    with pytest.raises(gnomon.MissingExtraError, match="transformers"):
        w.huggingface()
