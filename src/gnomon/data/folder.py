"""Loads folders of images, one folder for each class: ``pictures/cat/1.png``, ``pictures/dog/7.jpg``."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results.record import Record

__all__ = ["ImageFolder", "image_folder"]

KINDS = (".png", ".jpg", ".jpeg")
GRAY = ("1", "L", "I", "I;16", "F", "LA")
"""Pillow's modes of images without color."""


@dataclass(frozen=True, slots=True, eq=False)
class ImageFolder(Record):
    """Images of equal size as bytes, their class indices, the class names, and notes on conversions.

    >>> pictures = ImageFolder(torch.zeros(2, 1, 4, 4, dtype=torch.uint8), torch.tensor([0, 1]), ("cat", "dog"))
    >>> pictures.classes[pictures.y[1]]
    'dog'
    """

    x: UInt8[Tensor, "n c h w"]
    y: Int[Tensor, " n"]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()


@add_call_to_errors
def image_folder(
    path: str | Path, *, classes: tuple[str, ...] | None = None, size: tuple[int, int] | None = None
) -> ImageFolder:
    """Loads all PNG and JPEG images of a folder that has one subfolder for each class; classes are in alphabetical
    order.

    Pictures that are all gray have one channel, others three. Pictures of other sizes are resized to ``size``, (height,
    width), by default the most frequent one; ``notes`` say so. ``classes`` are the classes of another folder, so
    that a test
    set has the numbers of its training set.
    Cost: all pictures in memory, as bytes.

    >>> image_folder("nowhere")
    Traceback (most recent call last):
    gnomon.core.errors.InputError: image_folder(path): nowhere is not a folder (expected a folder for each class)...
    """
    place = Path(path)
    if not place.is_dir():
        raise InputError(f"{path} is not a folder", accepted="a folder for each class", fix="Check the path")
    names = tuple(sorted(f.name for f in place.iterdir() if f.is_dir() and not f.name.startswith(".")))
    known = names if classes is None else classes
    if strange := sorted(set(names) - set(known)):
        what = f"{path} has the class '{strange[0]}', which the training images do not have"
        raise InputError(what, accepted="the same classes as the training images", fix="Use the same folder names")
    files = [
        (file, known.index(name)) for name in names for file in sorted((place / name).rglob("*"))
        if file.suffix.lower() in KINDS
    ]  # fmt: skip
    if not files:
        what = f"{path} contains no PNG or JPEG files in class folders"
        raise InputError(what, accepted="images as class/name.png", fix="Put each image in the folder of its class")
    pictures = [_open_image(file) for file, _ in files]
    sizes = Counter((p.height, p.width) for p in pictures)
    wanted, gray = size or sizes.most_common(1)[0][0], all(p.mode in GRAY for p in pictures)
    other = sum(count for found, count in sizes.items() if found != wanted)
    x = torch.stack([_pixels(p, wanted, "L" if gray else "RGB") for p in pictures])
    y = torch.tensor([label for _, label in files])
    empty = [name for name in names if not bool((y == known.index(name)).any())]
    notes = [f"{other} of {len(files)} images were resized to {wanted[0]} x {wanted[1]}"] if other else []
    notes += [f"no images in {', '.join(empty)}"] if empty else []
    return ImageFolder(x, y, known, tuple(notes))


def _open_image(file: Path) -> Any:
    from PIL import Image  # comes with matplotlib

    try:
        with Image.open(file, formats=("PNG", "JPEG")) as picture:
            picture.load()
            return picture
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as reason:
        words = str(reason).splitlines()[0] if str(reason) else type(reason).__name__
        what = f"{file} cannot be read as an image ({words})"
        raise InputError(what, accepted="PNG or JPEG files", fix="Remove or repair the file") from None


def _pixels(picture: Any, size: tuple[int, int], mode: str) -> Tensor:
    if picture.mode.startswith("I"):  # Images with 16 bits per pixel keep only the upper 8 bits.
        picture = picture.point(lambda v: v / 256).convert("L")
    fitted = picture.convert(mode)
    if (fitted.height, fitted.width) != size:
        fitted = fitted.resize((size[1], size[0]))
    array = torch.as_tensor(np.array(fitted))
    return array[None] if array.dim() == 2 else array.permute(2, 0, 1).contiguous()
