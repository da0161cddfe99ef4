"""Columns of a table keep their names in the search for shortcuts."""

import pytest
import torch
from torch import nn

from gnomon.attribution import attribution_overview, shortcuts
from gnomon.core.errors import InputError

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 1] > 0).long()
NET = nn.Linear(3, 2)


def test_features_have_the_names_of_their_columns():
    names = ("age", "height", "weight")
    assert {r.name for r in shortcuts(NET, (X, Y), columns=names).reliance} == set(names)
    assert {r.name for r in attribution_overview(NET, (X, Y), columns=names).shortcuts.reliance} == set(names)
    assert {r.name for r in shortcuts(NET, (X, Y)).reliance} == {"feature 0", "feature 1", "feature 2"}
    assert all(r.column for r in shortcuts(NET, (X, Y), columns=names).reliance)


def test_a_strong_column_is_no_shortcut_of_the_data_whatever_its_name():
    x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(4, 2)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[0.0, 0, 0, -1], [0, 0, 0, 1]]))
        net.bias.zero_()
    rows = [shortcuts(net, (x, (x[:, 3] > 0).long()), columns=names).findings[0].row for names in ((), tuple("abcd"))]
    assert rows[0] is rows[1]


def test_a_wrong_number_of_names_is_refused():
    with pytest.raises(InputError, match="columns has 2 names and the inputs have 3 columns"):
        shortcuts(NET, (X, Y), columns=("age", "height"))
