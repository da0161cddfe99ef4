"""The user's module: run it, capture its layers, leave it unchanged."""
