"""Text: the sources of Python's standard library, as characters or words."""

import functools
import keyword
import re
import sysconfig
from pathlib import Path

import torch
from torch import Tensor

from evaluation.public_models.case import Data

MODULES = (
    "argparse", "ast", "calendar", "configparser", "csv", "datetime", "difflib", "dis", "fractions", "heapq", "inspect",
    "mailbox", "optparse", "pdb", "pickle", "shutil", "statistics", "tarfile", "textwrap", "typing",
)  # fmt: skip
"""Modules of the standard library that are read."""
LINE_LENGTH = 48
"""Longest line of code, in characters."""
VOCABULARY = 101
"""Different characters: 0 is any other character, the rest are the most frequent."""


@functools.cache
def corpus() -> str:
    """The sources, one after the other, with one space for each run of spaces."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [folder / f"{name}.py" for name in MODULES]
    return re.sub(" +", " ", "\n".join(file.read_text("utf-8") for file in files if file.exists()))


@functools.cache
def characters(vocabulary: int = VOCABULARY) -> Tensor:
    """The corpus as numbers of characters."""
    text = corpus()
    frequent = sorted(set(text), key=lambda c: -text.count(c))[: vocabulary - 1]
    number = {c: i + 1 for i, c in enumerate(frequent)}
    return torch.tensor([number.get(c, 0) for c in text])


def windows(seed: int, length: int, train: int, test: int, vocabulary: int = VOCABULARY) -> tuple[Tensor, Tensor]:
    """Windows of characters at random places; those for the test are from the last tenth of the corpus."""
    stream = characters(vocabulary)
    border = len(stream) * 9 // 10
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(border - length, (train,), generator=generator)
    others = border + torch.randint(len(stream) - border - length, (test,), generator=generator)
    offsets = torch.arange(length)
    return stream[starts[:, None] + offsets], stream[others[:, None] + offsets]


def next_tokens(length: int = 32, train: int = 2000, test: int = 200):
    """A function of a seed: pairs of tokens (n, length) and the next tokens (n, length)."""

    def data(seed: int) -> Data:
        first, second = windows(seed, length + 1, train, test)
        return Data((first[:, :-1], first[:, 1:]), (second[:, :-1], second[:, 1:]))

    return data


def causal(length: int = 32, train: int = 2000, test: int = 200, mask: bool = True):
    """A function of a seed: dicts as a Hugging Face collator makes them; the model shifts ``labels`` itself."""

    def data(seed: int) -> Data:
        parts = windows(seed, length, train, test)
        extra = [{"attention_mask": torch.ones_like(part)} if mask else {} for part in parts]
        return Data(
            *({"input_ids": part, **more, "labels": part.clone()} for part, more in zip(parts, extra, strict=True))
        )

    return data


def sequences(length: int = 32, train: int = 2000, test: int = 200):
    """A function of a seed: windows without targets, for models whose forward returns a loss."""

    def data(seed: int) -> Data:
        return Data(*windows(seed, length, train, test))

    return data


def masked(length: int = 32, train: int = 2000, test: int = 200, mask_token: int = VOCABULARY):
    """A function of a seed: 15 % of the characters are hidden, and only these have labels; the others are -100."""

    def data(seed: int) -> Data:
        generator = torch.Generator().manual_seed(seed + 1)
        parts = []
        for ids in windows(seed, length, train, test):
            hidden = torch.rand(ids.shape, generator=generator) < 0.15
            parts.append(
                {
                    "input_ids": ids.masked_fill(hidden, mask_token),
                    "attention_mask": torch.ones_like(ids),
                    "labels": ids.masked_fill(~hidden, -100),
                }
            )
        return Data(*parts)

    return data


def steps_first(length: int = 35, columns: int = 20, train: int = 150, test: int = 15):
    """A function of a seed: batches (length, columns) with flat targets, as pytorch/examples reads text in columns."""

    def data(seed: int) -> Data:
        parts = windows(seed, length + 1, train * columns, test * columns)
        return Data(*([_columns(part.T) for part in whole.split(columns)] for whole in parts))

    return data


def _columns(block: Tensor) -> tuple[Tensor, Tensor]:
    return block[:-1].contiguous(), block[1:].reshape(-1)


@functools.cache
def _lines() -> tuple[tuple[str, int], ...]:
    """Lines of code without their first word, and a class: 0 imports, returns and loops, 1 definitions, 2 conditions,
    3 assignments. No two are equal.
    """
    found: dict[str, int] = {}
    for line in sorted(set(corpus().splitlines())):
        words = line.split()
        if len(words) >= 2 and 12 <= len(line.strip()) <= LINE_LENGTH:
            code = re.match(r"\s*(def|class|import|from|return|if|elif|while|for|self\.)\b", line)
            kind = 3 if code is None else {"def": 1, "class": 1, "if": 2, "elif": 2, "while": 2}.get(code[1], 0)
            if code is not None or "=" in line:
                found.setdefault(line.strip().split(maxsplit=1)[1], kind)
    return tuple(found.items())


def lines(length: int = LINE_LENGTH, train: int = 2000, test: int = 400, several: bool = False):
    """A function of a seed: lines of code with a class, or with four labels; dicts as a tokenizer makes them.

    The first word is missing, so that the class must be guessed from the rest.
    """

    def data(seed: int) -> Data:
        chosen = torch.randperm(len(_lines()), generator=torch.Generator().manual_seed(seed))[: train + test]
        rows = [_lines()[i] for i in chosen.tolist()]
        texts = [text for text, _ in rows]
        ids = torch.zeros(len(rows), length, dtype=torch.long)
        for i, text in enumerate(texts):
            ids[i, : len(text)] = torch.tensor([min(ord(c), VOCABULARY + 26) for c in text])
        labels = torch.tensor([kind for _, kind in rows])
        if several:
            signs = ("(", ":", "=", "self")
            labels = torch.tensor([[float(s in text) for s in signs] for text in texts])
        whole = {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": labels}
        return Data({k: v[test:] for k, v in whole.items()}, {k: v[:test] for k, v in whole.items()})

    return data


def tags(length: int = LINE_LENGTH, train: int = 2000, test: int = 400):
    """A function of a seed: lines of code with a class for each character: other, name, number, keyword, sign.

    Padding has the label -100.
    """

    def data(seed: int) -> Data:
        plain = lines(length, train, test)(seed)
        return Data(*({**part, "labels": _tagged(part["input_ids"])} for part in (plain.train, plain.test)))

    return data


def _tagged(ids: Tensor) -> Tensor:
    found = torch.full_like(ids, -100)
    for i, row in enumerate(ids.tolist()):
        text = "".join(map(chr, row)).rstrip("\0")
        found[i, : len(text)] = 0
        for match in re.finditer(r"[A-Za-z_]\w*|\d+|[^\w\s]", text):
            word = match[0]
            kind = (
                3
                if keyword.iskeyword(word)
                else 1
                if word[0].isalpha() or word[0] == "_"
                else 2
                if word.isdigit()
                else 4
            )
            found[i, match.start() : match.end()] = kind
    return found


def reversals(length: int = 10, train: int = 2000, test: int = 200, end: int = 1):
    """A function of a seed: short words of the corpus, and the same words backwards as ``labels``; padding is -100."""

    def data(seed: int) -> Data:
        words = sorted({w for w in re.findall(r"[a-z]{4,9}", corpus())})
        chosen = torch.randperm(len(words), generator=torch.Generator().manual_seed(seed))[: train + test]
        ids = torch.zeros(len(chosen), length + 1, dtype=torch.long)
        labels = torch.full_like(ids, -100)
        for row, i in enumerate(chosen.tolist()):
            word = torch.tensor([ord(c) - ord("a") + 2 for c in words[i]])
            ids[row, : len(word)], ids[row, len(word)] = word, end
            labels[row, : len(word)], labels[row, len(word)] = word.flip(0), end
        whole = {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": labels}
        return Data({k: v[test:] for k, v in whole.items()}, {k: v[:test] for k, v in whole.items()})

    return data
