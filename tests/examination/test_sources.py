"""The same numbers from a pair, a Dataset, a DataLoader and a generator of dict batches."""

import re

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon.core.machine.clock import FakeClock
from gnomon.examination import examine, rank, watch
from gnomon.examination.subject import build_subject
from tests.shares import in_full

G = torch.Generator().manual_seed(0)
X = torch.randn(70, 5, generator=G)
Y = (X[:, 0] * X[:, 1] > 0).long()


def dicts():
    for start in range(0, 70, 16):
        yield {"x": X[start : start + 16], "labels": Y[start : start + 16]}


FORMS = {
    "dict": lambda: {"x": X, "labels": Y},
    "dataset": lambda: TensorDataset(X, Y),
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=13, shuffle=True),
    "generator": dicts,
    "function": lambda: dicts,
}


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))


TIMED = ("training step",)


def numbers(train, test):
    """All values of an examination on a clock of its own; the time of a step depends on the machine."""
    result = examine(net, train, test, budget=4, batch=16, clock=FakeClock(0.01), name="net")
    assert not {s.key: s.answer for s in result.sections if s.state == "failed"}
    values = {(s.key, v.name): v.value for s in result.sections for v in s.content.values if v.name not in TIMED}
    return values | {"digest": result.manifest["training data"]}


@pytest.fixture(scope="module")
def wanted():
    return numbers((X, Y), (X, Y))


@pytest.mark.parametrize("form", in_full(FORMS, except_for=["loader", "generator"]))
def test_an_examination(form, wanted):
    same = numbers(FORMS[form](), FORMS[form]())
    assert same.keys() == wanted.keys() and len(wanted) > 40
    for key, value in wanted.items():  # losses of parts in float32 are added in another order, so they may be rounded
        assert same[key] == (pytest.approx(value, rel=1e-7) if isinstance(value, float) else value), key


@pytest.mark.parametrize("form", in_full(FORMS, except_for=["loader", "generator"]))
def test_a_ranking(form):
    networks = {"line": lambda: nn.Linear(5, 2), "deep": net}
    same, pair = rank(networks, FORMS[form](), examples=40), rank(networks, (X, Y), examples=40)
    assert same.to_dict() == pair.to_dict() and same.examples == 40


@pytest.mark.parametrize("form", FORMS)
def test_a_watch(form):
    rows = [watch(net(), data).measure() for data in (FORMS[form](), (X, Y))]
    for row in rows:
        del row["overhead"]
    assert rows[0] == rows[1] and {"kernel drift", "alignment", "sharpness", "probe loss"} <= rows[0].keys()


def test_one_probe_has_the_share_of_every_class_and_smaller_ones_are_parts_of_it():
    y = torch.tensor([0] * 60 + [1] * 10)
    network = build_subject(net(), (X, y), None, optimizer=None, seed=0, probe=35)
    assert torch.bincount(network.probe.y).tolist() == [30, 5]
    few = network.probe.some(7)
    assert torch.bincount(few.y).tolist() == [6, 1]
    rows = {tuple(row) for row in network.probe.x.tolist()}
    assert all(tuple(row) in rows for row in few.x.tolist())


CALLS = {
    "rank(networks, train)": lambda data: rank({"a": net}, data),
    "watch(module, data)": lambda data: watch(net(), data),
    "examine(module, train)": lambda data: examine(net, data),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("bad", [X, (X, Y[:-1]), None, [(X, None)], {"x": X}], ids=range(5))
def test_errors_name_the_call_that_was_made(call, bad):
    with pytest.raises(gnomon.GnomonError, match=f"^{re.escape(call)}: "):
        CALLS[call](bad)
