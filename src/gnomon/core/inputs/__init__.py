"""Reads and validates what users pass: data sets, batches, arrays, images, and other arguments."""
