"""Tables with named columns are taken wherever arrays are."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon import checks, dynamics, landscape, linalg, tangent
from gnomon.core.inputs.arguments import map_tensors
from gnomon.core.inputs.arrays import as_array, as_tensor
from gnomon.linalg.solve import DirectSolver

pandas = pytest.importorskip("pandas", reason="pandas is not installed")

VALUES = np.random.default_rng(0).normal(size=(12, 3))
X, Y, LABELS = pandas.DataFrame(VALUES, columns=list("abc")), pandas.Series(VALUES[:, 0]), pandas.Series([0, 1] * 6)
GRAM = pandas.DataFrame(VALUES @ VALUES.T + np.eye(12))
NET = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
TAKEN = {
    "limit": lambda x, y, k: gnomon.limit(NET).ntk(x, x),
    "ntk": lambda x, y, k: gnomon.ntk(NET, x),
    "predict": lambda x, y, k: gnomon.predict(NET, (x, y), test=(x, y), times=[1.0]).test_loss,
    "predict of a matrix": lambda x, y, k: dynamics.predict_from_kernel(k, y, test=k, y_test=y, times=[1.0]).test_loss,
    "stopping": lambda x, y, k: dynamics.equivalent_stopping_time(k, y, ridge=0.1, test=k).test_gap,
    "train": lambda x, y, k: gnomon.train(NET, (x, y), test=(x, y), steps=3).test_loss,
    "sharpness": lambda x, y, k: landscape.sharpness(NET, (x, y)).value,
    "signal": lambda x, y, k: checks.signal_propagation(NET, (x, y)).layers[0].activation,
    "alignment": lambda x, y, k: tangent.alignment(k, y),
    "spectrum": lambda x, y, k: tangent.kernel_spectrum(k, y).values,
    "kappa": lambda x, y, k: tangent.laziness_criterion(NET, (x, y), iterations=3).value,
    "posterior": lambda x, y, k: dynamics.gp_posterior(k, y, nngp_test=k, nngp_test_test=k).mean,
    "diagnose": lambda x, y, k: str(linalg.diagnose_matrix(k)),
    "cholesky": lambda x, y, k: linalg.cholesky(k).lower,
    "solve": lambda x, y, k: DirectSolver().solve(k, y, ridge=0.1).coefficients,
    "rank": lambda x, y, k: gnomon.rank({"net": NET}, (x, y)).candidates[0].score,
    "examine": lambda x, y, k: gnomon.examine(NET, (x, y), budget=1).section("data").answer,
    "watch": lambda x, y, k: gnomon.watch(NET, (x, y)).measure()["kernel drift"],
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_frame_is_its_values(name):
    framed = TAKEN[name](X, LABELS, GRAM)
    plain = TAKEN[name](X.to_numpy(), LABELS.to_numpy(), GRAM.to_numpy())
    assert type(framed) is type(plain)
    assert torch.equal(framed, plain) if isinstance(framed, torch.Tensor) else framed == plain


def test_a_dict_of_columns_is_a_dict_of_arguments():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(1))

        def forward(self, a, b):
            return (self.w * a * b)[:, None]

    x = {name: X[name] for name in "ab"}
    assert torch.allclose(gnomon.ntk(Named(), x).diagonal(), torch.tensor(VALUES[:, 0] * VALUES[:, 1]).float() ** 2)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "bool", "float32"])
def test_columns_keep_their_kind(dtype):
    kinds = {"int64": "i", "Int64": "i", "bool": "b", "float32": "f"}
    assert as_array(pandas.Series([1, 0, 1], dtype=dtype)).dtype.kind == kinds[dtype]


def test_booleans_beside_numbers_are_numbers():
    assert as_tensor(pandas.DataFrame({"a": [0.5, 1.5], "b": [True, False]})).tolist() == [[0.5, 1.0], [1.5, 0.0]]


@pytest.mark.parametrize(
    "column", [["red", "blue"], pandas.to_datetime(["2020-01-01", "2021-01-01"]), [1.0, None, "x"]]
)
def test_words_and_dates_are_refused_in_a_sentence(column):
    with pytest.raises(gnomon.InputError, match="not numbers .*Encode or drop"):
        as_tensor(pandas.DataFrame({"a": range(len(column)), "b": column}))


def test_arrays_and_tables_inside_of_arguments_are_transformed_as_tensors():
    found = map_tensors(lambda t: 2 * t, {"a": (np.ones(2), "word"), "b": X})
    assert found["a"][0].tolist() == [2.0, 2.0] and found["a"][1] == "word"
    assert isinstance(found["b"], torch.Tensor) and found["b"].shape == (12, 3)
