"""Explains terms of the theory in plain words; report pages show the explanation when a reader clicks the term.

>>> TermMarker("data").mark_terms("The tangent kernel is known.")[:33]
'The <button type=button class=ter'
"""

import re
from collections.abc import Iterable
from html import escape

__all__ = ["GLOSSARY", "TermMarker"]

GLOSSARY = {
    "tangent kernel": "A number for each pair of examples: how much a small training step on one changes the output "
    "for the other. Examples with a large value are learned together.",
    "mode": "A pattern of values over the examples that the network fits at one speed. Modes "
    "with a large eigenvalue are "
    "learned first, modes with a small eigenvalue last or never.",
    "eigenvalue": "The speed at which the network fits one pattern over the examples: twice the eigenvalue, half the "
    "training time.",
    "alignment": "How well the labels match what the network learns fastest: 1 is best, and shuffled labels give "
    "a value near pure chance.",
    "p-value": "How often pure chance would give a result at least as extreme. Below 0.05 chance is an unlikely "
    "explanation.",
    "infinite-width limit": "What the network becomes if its layers are made wider and wider: a kernel method that "
    "can be computed exactly, and that does not learn new features.",
    "very wide version": "The same layers with more and more units. In the limit this is a kernel method that can be "
    "computed exactly, and that does not learn new features.",
    "leave-one-out": "Each example is predicted from all the others, in turn. This estimates the score on "
    "new examples.",
    "lazy training": "Training in which the layers hardly change: the network fits the data with its initial features.",
    "feature learning": "Training that changes the features which the layers compute, not only how the last layer "
    "combines them.",
    "sharpness": "The largest curvature of the loss. Plain gradient descent with a learning rate above 2 / sharpness "
    "overshoots and oscillates.",
    "edge of stability": "The state of training in which the sharpness has grown to the stability "
    "limit of the learning rate, "
    "2 / learning rate. Common and harmless with full batches; noise usually keeps training below it.",
    "Hessian": "The matrix of second derivatives of the loss with respect to all parameters: its curvature in every "
    "direction.",
    "gradient noise": "How much the gradient of one batch differs from the gradient of all data. "
    "Batches much larger than the "
    "noise scale waste work; much smaller batches make training erratic.",
    "margin": "The probability of the right class minus the largest probability of another "
    "class: negative if the answer is "
    "wrong.",
    "calibration": "Whether confidence matches accuracy: of the answers given with 80 % confidence, 80 % "
    "should be right.",
    "expected calibration error": "The mean difference between the confidence of the network and its accuracy.",
    "condition number": "The largest eigenvalue divided by the smallest: how many times longer "
    "the slowest mode takes to "
    "learn than the fastest.",
    "effective rank": "The number of kernel modes with eigenvalues that are not negligible: how many patterns the "
    "network can learn in practice.",
    "mean-field theory": "A prediction of how signals and gradients grow or shrink from layer to layer, computed only "
    "from the variance of the weights.",
    "gradient flow": "Gradient descent with very small steps; time is the learning rate times the number of steps.",
    "root mean square": "The typical size of the values: the square root of the mean of their squares.",
    "frequency": "A regular pattern of light and dark over the whole image; (2, 0) repeats twice from top to "
    "bottom and not at all from left to right. Low frequencies are coarse shapes, high frequencies fine detail.",
    "linear probe": "A linear classifier on the outputs of one layer: its accuracy shows how well this layer "
    "separates the classes.",
    "kernel regression": "A simple model that needs no training loop: it predicts an example from similar "
    "examples. A network should reach the same score.",
    "explained variance": "The share of the variance of the targets that predictions explain: 100 % is perfect, "
    "0 % is as good as always predicting the mean.",
    "entropy": "How evenly attention is spread over the tokens: 100 % means evenly over all tokens, 0 % means a "
    "single token.",
    "probe examples": "A fixed random part of the training data, with each class in proportion, used for the "
    "expensive measurements.",
}
"""Meanings by term; plurals with s are found too."""
_OTHERS = r"(?<!eval )(?<!training )(?<!-)"  # Skips "mode" in "eval mode" and "entropy" in "cross-entropy", for one.
_TERMS = "|".join(sorted(map(re.escape, GLOSSARY), key=len, reverse=True))
_FOUND = re.compile(rf"{_OTHERS}\b({_TERMS})(e?s)?\b", re.IGNORECASE)
_CODE = re.compile(r"`([^`]+)`")
# Keeps a term and the parentheses around it on one line, because a line could break after "(".
_BRACKETS = re.compile(r"(\(<button[^>]*>[^<]{1,24}</button>\))")
_KEYS = {term.lower(): term for term in GLOSSARY}


class TermMarker:
    """Marks the first mention of each glossary term in one part of a report page."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[str] = []

    def mark_terms(self, text: str) -> str:
        """Converts text to HTML: escapes it, formats backticks as code, and makes the first mention of each term a
        button.
        """
        parts = _CODE.split(text)
        return "".join(
            f"<code>{escape(part)}</code>" if i % 2 else self._find_term(part) for i, part in enumerate(parts)
        )

    def _find_term(self, part: str) -> str:
        return _BRACKETS.sub(r"<span class=whole>\1</span>", _FOUND.sub(self._button, escape(part)))

    def _button(self, match: re.Match[str]) -> str:
        term = _KEYS[match[1].lower()]
        if term in self.seen:
            return match[0]
        self.seen.append(term)
        return f'<button type=button class=term popovertarget="{self._id(term)}">{match[0]}</button>'

    def cards(self) -> Iterable[str]:
        """Returns the HTML of the explanations of the marked terms; a click on a term shows its explanation."""
        for term in self.seen:
            yield f'<div popover id="{self._id(term)}"><strong>{escape(term)}</strong> {escape(GLOSSARY[term])}</div>'

    def _id(self, term: str) -> str:
        return f"term-{escape(self.name, quote=True)}-{term.replace(' ', '-').lower()}"
