"""How far an input must move before a decision changes: attacks, bounds, and training against attacks."""
