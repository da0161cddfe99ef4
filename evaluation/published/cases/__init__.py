"""The cases, one file for each group of sources."""
