"""Checks of the data: duplicates, shift between train and test, labels, columns, targets."""
