"""Lists the documentation page that explains each section of the report.

>>> EXPLANATIONS["signal"].page
'topics/robustness.md'
"""

from collections.abc import Mapping
from types import MappingProxyType

from gnomon.report.explanation import Explanation

__all__ = ["EXPLANATIONS"]

FAULTS = "topics/faults.md"
NUMBERS = "topics/numbers.md"
EXAMINATION = "topics/examination.md"
EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType({
    "architecture": Explanation(EXAMINATION, "The steps"),
    "data": Explanation(FAULTS, "Data"),
    "wiring": Explanation(FAULTS, "Network"),
    "columns": Explanation(FAULTS, "Data"),
    "split": Explanation(FAULTS, "Data"),
    "signal": Explanation("topics/robustness.md", "Signal propagation, measured"),
    "kernel": Explanation("topics/tangent.md", "Modes"),
    "stability": Explanation("topics/landscape.md", "The edge of stability"),
    "forecast": Explanation("topics/dynamics.md", "What will training do, before it starts?", whole=True),
    "match": Explanation("topics/dynamics.md", "How accurate it is"),
    "training": Explanation(EXAMINATION, "Training"),
    "optimizer": Explanation("guides/learning-rate.md", "How do I choose a learning rate?", whole=True),
    "outcome": Explanation(FAULTS, "Training"),
    "fixes": Explanation(EXAMINATION, "Fixes that were tried"),
    "regime": Explanation("topics/regimes.md", "Lazy or rich: in which regime is my network?", whole=True),
    "curvature": Explanation("topics/landscape.md", "Curvature"),
    "margins": Explanation(NUMBERS, "After training"),
    "examples": Explanation("guides/wrong-labels.md", "How do I find wrong labels?", whole=True),
    "samples": Explanation("topics/generative.md", "How good are the samples of your model?"),
    "importance": Explanation("topics/attribution.md", "What does a network look at?", whole=True),
    "invariance": Explanation("topics/symmetry.md", "Measure"),
    "sequences": Explanation("topics/sequences.md", "In the examination"),
    "graphs": Explanation("topics/sequences.md", "Graphs"),
    "attribution": Explanation("topics/attribution.md", "Shortcuts and frequencies"),
    "limit": Explanation(NUMBERS, "Before training"),
})  # fmt: skip
"""The explanation of each section, by the key of its step."""
