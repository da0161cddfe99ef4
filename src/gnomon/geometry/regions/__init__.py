"""Linear regions of piecewise linear networks: all of them on a line and in a plane, and units that do nothing."""

from gnomon.geometry.regions.exact import LineRegions, PlaneRegions, maximal_regions, regions_in_plane, regions_on_line

__all__ = ["LineRegions", "PlaneRegions", "maximal_regions", "regions_in_plane", "regions_on_line"]
