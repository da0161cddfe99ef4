"""Rules: one layer family per file; ``base`` has their contract."""
