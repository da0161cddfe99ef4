"""Data sets of named columns, as Hugging Face has them: imitated everywhere, the real ones where they are installed."""

import numpy as np
import pytest
import torch
from torch import nn

import gnomon
from gnomon.core.inputs.images import AdaptedInputWarning
from gnomon.core.inputs.source import data_source

IDS = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 2], [2, 3, 5]]
LABELS = [0, 1, 1, 0, 1]


class Imitation:
    """What gnomon relies on: column names, a length, rows by number or by a list, a column by name."""

    def __init__(self, columns):
        self.columns, self.column_names = columns, list(columns)

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.columns[key]
        if isinstance(key, list):
            return {name: [values[i] for i in key] for name, values in self.columns.items()}
        return {name: values[key] for name, values in self.columns.items()}

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def real(columns):
    return pytest.importorskip("datasets", reason="datasets is not installed").Dataset.from_dict(columns)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 4), nn.Linear(4, 2)

    def forward(self, input_ids, attention_mask=None):
        return self.head(self.embed(input_ids).mean(1))


TOKENS = {
    "text": list("abcde"),
    "input_ids": IDS,
    "attention_mask": [[1] * 3] * 5,
    "idx": [0, 1, 2, 3, 4],
    "label": LABELS,
}


@pytest.mark.parametrize("make", [Imitation, real])
def test_tokens_beside_their_text(make):
    data = data_source(make(TOKENS), module=Tagger())
    batch = data.whole()
    assert set(batch.x) == {"input_ids", "attention_mask"} and batch.x["input_ids"].tolist() == IDS
    assert data.labels().tolist() == LABELS == batch.y.tolist() and len(data) == 5
    assert data.at(torch.tensor([3, 0])).x["input_ids"].tolist() == [IDS[3], IDS[0]]


@pytest.mark.parametrize("make", [Imitation, real])
def test_a_single_column_of_numbers_is_the_input(make):
    rows = [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]]
    batch = data_source(make({"features": rows, "label": [0, 1, 1]}), module=nn.Linear(2, 2)).whole()
    assert batch.x.tolist() == rows and batch.y.tolist() == [0, 1, 1]


def test_pictures():
    from PIL import Image

    gray = [Image.fromarray(np.full((4, 5), i, np.uint8)) for i in range(3)]
    with pytest.warns(AdaptedInputWarning, match=r"uint8 inputs were scaled to \[0, 1\]"):
        batch = data_source(Imitation({"image": gray, "label": [0, 1, 1]}), module=nn.Conv2d(1, 2, 3)).whole()
    assert batch.x.shape == (3, 1, 4, 5) and batch.x[2].unique().tolist() == pytest.approx([2 / 255])
    color = [picture.convert("RGB") for picture in gray]
    assert data_source(Imitation({"image": color, "label": [0, 1, 1]})).whole().x.shape == (3, 3, 4, 5)


def test_real_pictures_in_a_real_data_set():
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    from PIL import Image

    gray = [Image.fromarray(np.full((4, 5), 10 * i, np.uint8)) for i in range(3)]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b"])})
    data = datasets.Dataset.from_dict({"image": gray, "label": [0, 1, 1]}, features=features)
    assert data_source(data).whole().x[:, 0, 0, 0].tolist() == [0, 10, 20] and data_source(data).labels().tolist() == [
        0,
        1,
        1,
    ]


def test_a_real_stream_of_rows_and_a_formatted_data_set():
    rows = real({"x": [[float(i), 1.0] for i in range(600)], "label": [i % 2 for i in range(600)]})
    for data in (
        rows.to_iterable_dataset(),
        rows.with_format("torch"),
        rows.with_format("numpy"),
        rows.shuffle(seed=0),
    ):
        found = data_source(data, module=nn.Linear(2, 2))
        assert len(found) == 600 and found.whole().x.sum() == 600 * 599 / 2 + 600


@pytest.mark.parametrize("make", [Imitation, real])
def test_a_network_is_examined_on_them(make):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(60, 3, generator=g)
    data = make({"features": x.tolist(), "label": (x[:, 0] > 0).long().tolist()})
    result = gnomon.examine(nn.Linear(3, 2), data, budget=1, examination_steps=gnomon.examination.STEPS[:2])
    assert result.section("data").value("training-examples").value == 60


def test_what_cannot_be_read_is_told():
    with pytest.raises(gnomon.InputError, match="column 'ids' have different shapes.*padding"):
        data_source(Imitation({"ids": [[1, 2], [3]], "label": [0, 1]})).whole()
    with pytest.raises(gnomon.InputError, match="the columns text, label contain neither numbers"):
        data_source(Imitation({"text": ["a", "b"], "label": [0, 1]})).whole()
