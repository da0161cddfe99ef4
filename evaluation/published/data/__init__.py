"""Data of the published cases: small, fixed by a seed, real if possible."""
