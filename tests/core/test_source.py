"""One source of data: every kind gives the same examples, in the same order, and says clearly what it cannot read."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.core.inputs.source import all_inputs, as_input_source, data_source

X = torch.arange(22.0).reshape(11, 2)
Y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0])


class Rows(Dataset):
    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        return X[i], int(Y[i])


class Flow(IterableDataset):
    def __iter__(self):
        return iter([(x, y) for x, y in zip(X, Y, strict=True)])


def dicts():
    for i in range(0, 11, 4):
        yield {"x": X[i : i + 4], "labels": Y[i : i + 4]}


KINDS = {
    "pair": lambda: (X, Y),
    "list": lambda: [X, Y],
    "arrays": lambda: (X.numpy(), Y.numpy()),
    "dict": lambda: {"x": X, "labels": Y},
    "dataset": lambda: TensorDataset(X, Y),
    "rows": Rows,
    "loader": lambda: DataLoader(TensorDataset(X, Y), batch_size=3),
    "shuffled loader": lambda: DataLoader(Rows(), batch_size=5, shuffle=True),
    "flow": Flow,
    "loader of a flow": lambda: DataLoader(Flow(), batch_size=4),
    "generator": dicts,
    "function": lambda: dicts,
    "batches": lambda: list(dicts()),
    "tuples": lambda: [(X[:6], Y[:6]), (X[6:], Y[6:])],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_examples(kind):
    data = data_source(KINDS[kind]())
    assert len(data) == 11
    assert torch.equal(torch.cat([b.x for b in data.batches(4)]), X)
    assert torch.equal(data.labels(), Y)
    assert torch.equal(data.whole().x, X) and torch.equal(data.whole().y, Y)
    assert torch.equal(data.first(5).x, X[:5])
    index = torch.tensor([9, 0, 4])
    assert torch.equal(data.at(index).x, X[index]) and torch.equal(data.at(index).y, Y[index])
    assert torch.equal(data.probe(6, seed=3).x, data_source((X, Y)).probe(6, seed=3).x)
    assert data.mean(lambda b: b.x.mean(0), size=4).tolist() == pytest.approx(X.mean(0).tolist(), rel=1e-6)


def test_a_probe_holds_every_class_in_proportion():
    labels = torch.tensor([0] * 90 + [1] * 9 + [2])
    probe = data_source((torch.zeros(100, 1), labels)).probe(20, seed=1)
    assert torch.bincount(probe.y).tolist() == [18, 1, 1]
    again, other = (data_source((torch.arange(100.0)[:, None], labels)).probe(20, seed=s) for s in (1, 2))
    assert not torch.equal(again.x, other.x)


def test_batches_come_as_the_module_takes_them():
    net = nn.Linear(2, 3, dtype=torch.float64)
    assert all(b.x.dtype == torch.float64 for b in data_source(dicts(), module=net).batches())
    with pytest.raises(NotFiniteError, match=r"^example 1 of x contains NaN or infinity"):
        data_source(torch.tensor([[0.0], [torch.nan]]), [0, 1], module=nn.Linear(1, 2))


def test_inputs_of_several_arguments_stay_together():
    batch = data_source({"ids": X, "mask": X > 3, "labels": Y}).first(2)
    assert set(batch.x) == {"ids", "mask"} and batch.x["mask"].dtype == torch.bool
    triple = data_source(TensorDataset(X, X + 1, Y)).at(torch.tensor([1]))
    assert len(triple.x) == 2 and triple.y.tolist() == [1]


def test_own_targets_of_a_data_set_spare_reading_it():
    class Labelled(Rows):
        targets = Y.tolist()

        def __getitem__(self, i):
            raise AssertionError("read")

    assert torch.equal(data_source(Labelled()).labels(), Y)


def test_a_function_whose_second_pass_is_shorter_is_refused():
    passes = iter([dicts(), []])
    data = data_source(lambda: next(passes))
    assert len(data) == 11
    with pytest.raises(InputError, match="data that can be read again"):
        list(data.batches())


@pytest.mark.parametrize("data", [None, 3, "text", object(), [], [3], nn.Linear(1, 1)])
def test_what_is_no_data_is_told_in_a_sentence(data):
    with pytest.raises(InputError, match=r"expected "):
        list(data_source(data).batches())


def test_targets_must_fit():
    with pytest.raises(InputError, match="11 inputs and 10 targets"):
        data_source(X, Y[:10])
    with pytest.raises(InputError, match="holds text"):
        data_source(X, np.array(["a"] * 11))


INPUTS_ONLY = ("dataset", "rows", "loader", "flow", "generator", "function")


@pytest.mark.parametrize("kind", INPUTS_ONLY)
def test_inputs_alone_are_read_from_any_data(kind):
    assert torch.equal(all_inputs(KINDS[kind](), nn.Linear(2, 1)), X)


def test_tuples_lists_and_dicts_are_the_arguments_of_the_module():
    net = nn.Linear(2, 1)
    assert len(all_inputs((X, X), nn.Bilinear(2, 2, 1))) == 2
    assert torch.equal(all_inputs((X, Y), net), X)  # forward takes one argument: a pair
    assert set(all_inputs({"input": X}, net)) == {"input"}
    assert set(all_inputs({"input": X, "labels": Y}, net)) == {"input"}  # forward takes no labels: targets
    assert set(all_inputs({"input1": X, "input2": X}, nn.Bilinear(2, 2, 1))) == {"input1", "input2"}
    with pytest.raises(InputError, match=r"^x is None"):
        all_inputs(None, net)


def test_a_pair_has_targets():
    x, y = data_source(KINDS["loader"]()).pair()
    assert torch.equal(x, X) and torch.equal(y, Y)
    with pytest.raises(InputError, match=r"^the data have no targets"):
        data_source(X).pair()


def test_a_source_of_inputs_keeps_the_targets_of_data_and_has_none_for_arguments():
    net = nn.Linear(2, 1)
    assert torch.equal(as_input_source(KINDS["loader"](), net).labels(), Y)
    assert torch.equal(as_input_source((X, Y), net).labels(), Y)
    assert as_input_source((X, Y), nn.Bilinear(2, 1, 1)).labels() is None


@pytest.mark.parametrize("y", [[0, 1], [0.5, 1.5], [[0.5], [1.5]], (0, 1)])
def test_targets_that_are_a_list_of_numbers_make_a_pair_and_no_batches(y):
    pair = data_source(([[1.0, 2.0], [3.0, 4.0]], y))
    assert len(pair) == 2 and pair.whole().x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.equal(pair.labels(), torch.tensor(y))


class Broken(Rows):
    def __getitem__(self, i):
        if i == 7:
            raise OSError("the disk is gone")
        return X[i, : 1 + i % 2], 0


def test_what_a_data_set_raises_is_told_with_the_number_of_the_example():
    with pytest.raises(InputError, match=r"example 7 of the data set raised OSError: the disk is gone"):
        data_source(Broken()).at(torch.tensor([7]))
    with pytest.raises(InputError, match=r"examples 0 to 1 cannot be combined into one batch .* collate_fn pads them"):
        data_source(Broken()).at(torch.tensor([0, 1]))


def test_batches_that_are_padded_each_to_its_own_length_are_not_joined():
    with pytest.raises(InputError, match=r"examples of shapes \(2,\) and \(3,\).* Pad all batches to the same length"):
        data_source([(torch.zeros(4, 2), Y[:4]), (torch.zeros(4, 3), Y[:4])]).whole()


def test_a_dict_of_data_sets_is_refused_with_the_one_to_pass():
    class Sets(dict):
        column_names = {"train": ["x"], "test": ["x"]}

    with pytest.raises(InputError, match=r"data sets train, test .* Pass data\['train'\], and test=data\['test'\]"):
        data_source(Sets(train=Rows(), test=Rows()))


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_examples_cross_batches(kind):
    data = data_source(KINDS[kind]())
    for n in (1, 3, 4, 5, 8, 11, 20):
        assert torch.equal(data.first(n).x, X[:n]) and torch.equal(data.first(n).y, Y[:n])


def test_batches_have_the_size_that_is_asked_for():
    for data in (data_source((X, Y)), data_source(torch.utils.data.TensorDataset(X, Y))):
        assert [len(b) for b in data.batches(4)] == [4, 4, 3] and [len(b) for b in data.batches(11)] == [11]
        assert torch.equal(torch.cat([b.y for b in data.batches(4)]), Y)


def test_a_mean_counts_examples_and_not_batches():
    """Batches of 4, 4 and 3: the mean of 0 to 10 is 5, the mean of the three means 1.5, 5.5 and 9 is not."""
    data = data_source((torch.arange(11.0)[:, None], None))
    assert data.mean(lambda b: float(b.x.mean()), size=4) == pytest.approx(5.0)
    stream = data_source([(X[:2], Y[:2]), (X[2:3], Y[2:3]), (X[3:], Y[3:])])
    assert stream.mean(lambda b: b.x[:, 0].mean()) == pytest.approx(float(X[:, 0].mean()), rel=1e-6)
