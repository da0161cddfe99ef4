"""What networks look at: maps, units, layers, information."""
