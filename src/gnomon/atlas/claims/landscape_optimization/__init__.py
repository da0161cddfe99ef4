"""Claims on gradient methods, curvature, normalization and initialization."""
