"""Which letters of a formula does a list of symbols leave undefined?"""

import re

WORDS = re.compile(r"\\(?:mathrm|text|operatorname\*?|mathsf|texttt|textrm|mathop)\s*\{[^{}]*\}|\bKL\b")
"""Names set upright, such as ReLU or softmax: words, not symbols."""
SUBSCRIPTS = re.compile(r"_\{[A-Za-z]{3,}\}")
"""Words as subscripts, such as h_{flat}."""
ACCENTS = re.compile(
    r"\\(?:hat|bar|tilde|dot|ddot|vec|overline|widehat|widetilde|mathbf|boldsymbol|mathcal|mathbb|underline)\b"
)
"""Commands that decorate a letter."""
GREEK = frozenset(
    """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi rho sigma tau phi varphi chi
    psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell
    """.split()
)
"""Greek letters that are symbols; pi is a number."""
STANDARD = frozenset("e i j k l d O E P T R N C Z".split())
"""Letters with a fixed meaning: e, the imaginary unit and indices, differentials, Landau's O, expectation, probability,
transposition, and sets of numbers."""


def letters(tex: str) -> set[str]:
    """The letters of a formula, Latin and Greek, without upright words and commands."""
    tex = ACCENTS.sub(" ", WORDS.sub(" ", SUBSCRIPTS.sub(" ", tex)))
    commands = set(re.findall(r"\\([A-Za-z]+)", tex))
    plain = re.sub(r"\\[A-Za-z]+", " ", tex)
    return {name for name in commands if name in GREEK} | set(re.findall(r"[A-Za-z]", plain))


def undefined_symbols(equation: str, symbols: tuple[tuple[str, str], ...]) -> set[str]:
    """Letters of the equation that no symbol contains, without those that have a standard meaning."""
    defined = {letter for tex, _ in symbols for letter in letters(tex)}
    meanings = " ".join(meaning for _, meaning in symbols)
    mentioned = {letter for tex in re.findall(r"\$([^$]+)\$", meanings) for letter in letters(tex)}
    return letters(equation) - defined - mentioned - STANDARD
