"""Checks on data: copies, shift, labels, columns, targets."""
