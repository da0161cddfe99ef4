"""Every public function with an argument ``data``, given strange data: a finite result, or one sentence that explains.

The run-time checks of annotations are off, as they are for users.
"""

import math
import warnings

import jaxtyping
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from tests.core.test_any_data import CALLS, Y

LONGEST_MESSAGE = 600
"""Characters of a message, including words of the user's own error."""


def with_one(x, value):
    holed = x.clone()
    holed.view(len(x), -1)[1, 0] = value
    return holed


STRANGE = {
    "NaN": lambda x: (with_one(x, math.nan), Y),
    "infinity": lambda x: (with_one(x, math.inf), Y),
    "complex": lambda x: (x.to(torch.complex64), Y),
    "no examples": lambda x: (x[:0], Y[:0]),
    "other numbers of examples": lambda x: (x, Y[:5]),
    "another width": lambda x: (torch.cat([x, x], -1), Y),
    "a string": lambda x: "data.csv",
    "None": lambda x: None,
    "an empty list": lambda x: [],
    "an empty loader": lambda x: DataLoader(TensorDataset(x[:0], Y[:0]), batch_size=4),
    "objects": lambda x: (np.array([["a", None, {}]] * 24, dtype=object), Y),
    "ragged rows": lambda x: ([[1.0, 2.0], [1.0]], Y),
    "a used generator": lambda x: iter(()),
}


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def complaint(name, thing):
    """What is wrong with the outcome of one call; None if nothing is."""
    x, call = CALLS[name]
    torch.manual_seed(0)
    try:
        found = call(STRANGE[thing](x))
    except gnomon.GnomonError as error:
        text = str(error)
        if "\n" in text or len(text) > LONGEST_MESSAGE or not text.endswith((".", "?", ")")):
            return f"message: {text}"
        return None
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    if not isinstance(found, str) and not bool(torch.isfinite(torch.as_tensor(found).double()).all()):
        return "a result that is not finite"
    if isinstance(found, str) and "nan" in found.lower().split():
        return f"a sentence with NaN: {found}"
    return None


def complaints(names):
    return {(name, thing): said for name in names for thing in STRANGE if (said := complaint(name, thing))}


FEW = ["tangent.ntk", "checks.signal_propagation", "landscape.fisher", "attribution.gradient", "training.train"]


@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.full) for n in CALLS])
def test_strange_data_give_a_result_or_a_sentence(name):
    assert not complaints([name])
