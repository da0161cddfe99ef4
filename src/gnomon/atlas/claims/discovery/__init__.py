"""Discovery claims: finding equations in data, the effect of noise, and predictions outside the data."""
