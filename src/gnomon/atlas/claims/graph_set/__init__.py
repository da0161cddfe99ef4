"""Claims about networks on sets and graphs."""
