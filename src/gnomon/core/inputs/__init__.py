"""Handles what users pass in: data sources, batches, arrays, images, and the checks of arguments."""
