"""Counts of dialect markers, of bare participles as function names, and of constants without a quantity."""

import re
from collections import Counter
from pathlib import Path

from tools.plain_english.source import constants, function_names, texts

__all__ = ["MARKERS", "breaches", "counts"]

MARKERS = {
    "where (for: if)": r"\bwhere (?!\w{1,2}\b|phi|sigma|lambda|theta|kappa|omega|alpha|beta|gamma|delta|eps)(?=[a-z])"
    r"|\bwhere (?:it|no|an?|its)\b",
    "that of, those of": r"\b(?:that|those) of\b",
    "told, tells": r"\b(?:told|tells?|telling)\b",
    ", for (for: because)": r", for (?:it|they|this|these|those|its|there|then|nothing|no|one|that) ",
    "is no, are no": r"\b(?:is|are|was|were) no(?= (?!longer|more)[a-z])",
    "beside": r"\bbesides?\b",
    "alike": r"\balike\b",
    "so many": r"\bso many\b",
    "from which on": r"\b(?:from|below|above|beyond|up to) which (?:on\b|the same|it)",
    "grave": r"\bgrav(?:e|er|est|ity)\b",
    "dear": r"\bdear(?:er|est)?\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "cure": r"\bcur(?:e|es|ed)\b",
    "withstand": r"\bwithst(?:and|ands|ood|anding)\b",
    "come about": r"\bc(?:o|a)mes? about\b",
    "asked of": r"\basked (?:of|for by)\b",
    "the like, and so on": r"\band the like\b|\bor the like\b",
    "as it comes": r"\bas (?:it|they) comes?\b|\bwhatever else\b|\bnone of (?:its|their) business\b",
    "[H:": r"\[H:",
}
"""Phrases of the project's former private dialect, as regular expressions; each had a plainer common form."""

PARTICIPLE = re.compile(r"[a-z]+(?:ed|[^aeiou]en)")
IRREGULAR_PARTICIPLES = frozenset(
    "told kept drawn cut met seen taken given known held found lost made put said shown built bent left spent written "
    "chosen driven shaken hidden woken laid paid read sent brought thought caught taught sought bound wound grown "
    "thrown blown worn torn sworn born gone done stood understood begun run sung swum won hung struck stuck".split()
)
NOT_PARTICIPLES = frozenset(
    "embed need seed speed feed exceed proceed bed shed open golden screen queen token run even seven "
    "owen lengthen eigen flatten ragged read put cut bound left shorten tighten children".split()
)


def breaches(root: Path) -> dict[str, list[str]]:
    """Every place that a reader would stumble over, by kind."""
    found: dict[str, list[str]] = {name: [] for name in MARKERS}
    patterns = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in MARKERS.items()}
    any_marker = re.compile("|".join(f"(?:{pattern})" for pattern in MARKERS.values()), re.IGNORECASE)
    for text in texts(root):
        for name, pattern in patterns.items() if any_marker.search(text.words) else ():
            found[name] += [f"{text.place}: '{match[0]}'" for match in pattern.finditer(text.words)]
    found["functions named by a bare participle"] = [
        f"{place}: {name}" for place, name in function_names(root) if is_participle(name.strip("_"))
    ]
    named = list(constants(root))
    found["constants that share a line"] = [f"{place}: {name}" for place, name, several, _ in named if several]
    found["numbers named by one word"] = [
        f"{place}: {name}" for place, name, _, number in named if number and "_" not in name.strip("_")
    ]
    return found


def is_participle(name: str) -> bool:
    """Whether a function is named by one participle, which says neither what it does nor what it returns.

    >>> is_participle("settled"), is_participle("copy_with_batch_norm_statistics"), is_participle("embed")
    (True, False, False)
    """
    if name in NOT_PARTICIPLES:
        return False
    return name in IRREGULAR_PARTICIPLES or bool(PARTICIPLE.fullmatch(name))


def counts(root: Path) -> Counter[str]:
    """How many breaches of each kind there are."""
    return Counter({name: len(places) for name, places in breaches(root).items()})
