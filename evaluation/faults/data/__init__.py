"""Data for the cases: each function draws from one seed and returns (train, test), each a pair (inputs, targets)."""
