"""Claims about gradient methods, the curvature of losses, normalization layers and initialization."""
