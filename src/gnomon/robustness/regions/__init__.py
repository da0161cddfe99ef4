"""Linear regions of piecewise linear networks: all regions on a line or in a plane, and random samples in a ball."""

from gnomon.robustness.regions.ball import BallPatterns, patterns_in_ball
from gnomon.robustness.regions.exact import (
    LineRegions,
    PlaneRegions,
    maximal_regions,
    regions_in_plane,
    regions_on_line,
)

__all__ = [
    "BallPatterns",
    "LineRegions",
    "PlaneRegions",
    "maximal_regions",
    "patterns_in_ball",
    "regions_in_plane",
    "regions_on_line",
]
