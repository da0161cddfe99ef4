"""Claims about networks on sets and graphs: what they compute, ignore and cannot distinguish."""
