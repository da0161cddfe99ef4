"""Label quality by cleanlab from out-of-fold probabilities: reads probabilities and labels, writes scores.

python cleanlab_scores.py IN.npz OUT.npz      (probabilities (n, k) and labels (n,); low scores are suspect)
"""

import sys

import numpy as np
from cleanlab.rank import get_label_quality_scores

with np.load(sys.argv[1]) as file:
    labels, probabilities = file["labels"], file["probabilities"]
    scores = {
        method: get_label_quality_scores(labels, probabilities, method=method)
        for method in ("self_confidence", "normalized_margin")
    }
np.savez(sys.argv[2], **scores)
