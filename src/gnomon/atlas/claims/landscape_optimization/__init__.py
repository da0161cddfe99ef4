"""Claims about gradient methods, curvature, normalization and initialization."""
