"""Discovery claims: how equations are found in data, what noise does, and how the laws predict other data."""
