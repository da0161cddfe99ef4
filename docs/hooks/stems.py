"""Stems of words: a search for "learning" finds "learn" and "learned". ``assets/search.js`` has the same rules."""

import re
from html import unescape

ENDINGS = (
    "izations", "ization", "izing", "izes", "ized", "ize", "isation", "ations", "ation", "ating", "ates", "ated", "ate",
    "ences", "ence", "ness", "ions", "ion", "ings", "ing", "ies", "ed", "es", "s", "e",
)  # fmt: skip
"""Endings that are removed; the first that fits and leaves enough letters counts."""
MIN_LETTERS = 4
"""Letters that are left at least."""
WORD = re.compile(r"[^\W_]+")
TAG = re.compile(r"<[^>]*>")


def stem(word: str) -> str:
    """A word in lower case without its ending.

    >>> [stem(word) for word in ("learning", "rates", "classes", "overfitting", "calibrated", "loss", "symmetries")]
    ['learn', 'rate', 'class', 'overfit', 'calibr', 'loss', 'symmetry']
    """
    if word.endswith(("ss", "us", "is")):
        return word
    for ending in ENDINGS:
        left = word.removesuffix(ending)
        if left != word and len(left) >= MIN_LETTERS:
            if ending == "ies":
                return left + "y"
            doubled = ending in ("ing", "ed") and left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word


def stems(html: str) -> str:
    """The stems of a text, each once, in the order of the text.

    >>> stems("<p>Trains, and is <em>trained</em> again: dead-units</p>")
    'train and is again dead unit'
    """
    words = WORD.findall(unescape(TAG.sub(" ", html)).lower())
    return " ".join(dict.fromkeys(stem(word) for word in words))
