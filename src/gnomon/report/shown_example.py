"""Displays an example as an image, a row of features or a string of tokens, with its label and the network's answer.

>>> import torch
>>> from gnomon.report.shown_example import show_example
>>> show_example(torch.tensor([0.5, 2.0]), 7, label="3", answer="5").features
('0.5', '2')
>>> show_example(torch.rand(1, 8, 8), 7, label="3", answer="5").picture[:22]
'data:image/png;base64,'
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from torch import Tensor

from gnomon.core.inputs.arguments import input_tensors
from gnomon.core.results import format_number
from gnomon.core.results.record import Record

__all__ = ["ShownExample", "draw_picture", "is_picture", "show_example"]

MAX_THUMBNAIL_PIXELS = 64
"""Maximum side length of images in pixels; larger images are scaled down to keep pages small."""
MAX_SHOWN_FEATURES = 12
"""Maximum number of features shown for a row."""
MAX_SHOWN_TOKENS = 32
"""Maximum number of tokens shown for a sequence."""
CHANNELS = (1, 3, 4)
"""Numbers of channels that make an array an image."""
MIN_SERIES_LENGTH = 16
"""Minimum number of time steps of a series."""
MAX_SERIES_CHANNELS = 4
"""Maximum number of channels of a series."""


@dataclass(frozen=True, slots=True)
class ShownExample(Record):
    """One example as a report page shows it: index, label, the network's answer, a note, and its image or features.

    One of ``picture`` (a PNG as a data address), ``features`` and ``tokens`` is there; with none of them the example
    is known by its number alone. ``hidden`` counts features or tokens that are not shown. ``label_picture`` and
    ``answer_picture`` are drawn next to the input, such as masks or reconstructions. ``words`` name label and answer.
    ``input_word`` names the first of several pictures. ``ranked``: the examples are sorted, the most wrong first.
    """

    number: int
    label: str
    answer: str
    note: str = ""
    picture: str = ""
    features: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    hidden: int = 0
    right: bool | None = None
    label_picture: str = ""
    answer_picture: str = ""
    words: tuple[str, str] = ("label", "answer")
    input_word: str = "input"
    ranked: bool = True


def show_example(
    x: Any, index: int, *, label: str, answer: str, note: str = "", is_correct: bool | None = None,
    columns: Sequence[str] = (), vocabulary: Sequence[str] = (),
) -> ShownExample:  # fmt: skip
    """Prepares one input for display; ``is_correct`` says whether the network's answer is correct, None for regression.

    An image (c, h, w) or (h, w) is drawn from its least value in black to its largest in white; a series (time, c) or
    (c, time) of at most four channels as curves; integers are tokens; other numbers are features. Of several tensors
    the first with more than one number is shown. ``columns`` name the features, ``vocabulary`` has the words of tokens.

    >>> show_example(torch.tensor([4, 8, 15]), 0, label="1", answer="0").tokens
    ('4', '8', '15')
    """
    parts = [t for t in input_tensors(x) if t.numel() > 1] if isinstance(x, Mapping | tuple | list) else [x]
    seen = parts[0].detach().cpu() if parts and isinstance(parts[0], Tensor) else torch.empty(0)
    if is_series(seen):
        return ShownExample(index, label, answer, note, _curves(seen), right=is_correct)
    if is_picture(seen) and (len(parts) == 1 or seen.dim() == 3):  # Next to other tensors, 2 axes may be nodes.
        return ShownExample(index, label, answer, note, _png(seen), right=is_correct)
    flat = seen.reshape(-1)
    if flat.is_floating_point():
        named = [f"{name} " for name in columns] if len(columns) == len(flat) else [""] * len(flat)
        numbers = flat[:MAX_SHOWN_FEATURES].tolist()
        some = tuple(f"{name}{format_number(float(v))}" for name, v in zip(named, numbers, strict=False))
        return ShownExample(
            index, label, answer, note, features=some, hidden=max(0, len(flat) - MAX_SHOWN_FEATURES), right=is_correct
        )
    tokens = flat[:MAX_SHOWN_TOKENS].tolist()
    some = tuple(vocabulary[v] if 0 <= v < len(vocabulary) else str(v) for v in tokens)
    return ShownExample(
        index, label, answer, note, tokens=some, hidden=max(0, len(flat) - MAX_SHOWN_TOKENS), right=is_correct
    )


def draw_picture(x: Tensor) -> str:
    """Converts an image or a mask to a PNG file in the form of a data URL, which a web page can contain.

    Cost: one pass over the pixels.

    >>> draw_picture(torch.eye(4))[:22]
    'data:image/png;base64,'
    """
    return _png(x.detach().cpu())


def is_picture(x: Tensor) -> bool:
    """Checks whether an array is an image (c, h, w) or (h, w) with at least four pixels on each side.

    Two axes alone are a picture if one is at most twice as long as the other, unlike nodes with features.

    >>> is_picture(torch.zeros(3, 8, 8)), is_picture(torch.zeros(8, 8)), is_picture(torch.zeros(14, 6))
    (True, True, False)
    """
    real = x.is_floating_point() or x.dtype == torch.uint8
    if not real or x.dim() not in (2, 3) or min(x.shape[-2:]) < 4:
        return False
    return len(x) in CHANNELS if x.dim() == 3 else max(x.shape) <= 2 * min(x.shape)


def is_series(x: Tensor) -> bool:
    """Checks whether an array is a time series: at least sixteen time steps and at most four channels.

    >>> is_series(torch.zeros(30, 1)), is_series(torch.zeros(2, 40)), is_series(torch.zeros(28, 28))
    (True, True, False)
    """
    return (
        x.is_floating_point()
        and x.dim() == 2
        and max(x.shape) >= MIN_SERIES_LENGTH
        and min(x.shape) <= MAX_SERIES_CHANNELS
    )


def _png(x: Tensor) -> str:
    from PIL import Image  # comes with matplotlib

    numbers = torch.nan_to_num(x.double() if x.dim() == 3 else x.double()[None])[:3]
    low, high = float(numbers.min()), float(numbers.max())
    bytes_ = ((numbers - low) / max(high - low, 1e-30) * 255).round().to(torch.uint8)
    array = bytes_.permute(1, 2, 0).numpy()
    picture = Image.fromarray(array[:, :, 0] if len(numbers) < 3 else array)
    picture.thumbnail((MAX_THUMBNAIL_PIXELS, MAX_THUMBNAIL_PIXELS))
    return _address(picture)


def _curves(x: Tensor) -> str:
    """Draws a time series as white curves on black, one curve for each channel."""
    from PIL import Image, ImageDraw

    channels = torch.nan_to_num((x if x.shape[0] <= x.shape[1] else x.T).double())
    low, high = float(channels.min()), float(channels.max())
    size, edge = 2 * MAX_THUMBNAIL_PIXELS, 6
    picture = Image.new("L", (size, size))
    pen = ImageDraw.Draw(picture)
    for i, row in enumerate(channels):
        heights = size - edge - (size - 2 * edge) * (row - low) / max(high - low, 1e-30)
        steps = torch.linspace(edge, size - edge, len(row)).tolist()
        pen.line(list(zip(steps, heights.tolist(), strict=True)), fill=255 - 50 * i, width=2)
    return _address(picture)


def _address(picture: Any) -> str:
    file = BytesIO()
    picture.save(file, format="PNG", optimize=True)
    return "data:image/png;base64," + b64encode(file.getvalue()).decode("ascii")
