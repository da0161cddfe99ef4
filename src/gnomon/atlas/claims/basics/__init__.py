"""Basic claims: neurons, perceptrons, linear models and losses."""
