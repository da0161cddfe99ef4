"""Judgments about a training loop that was observed while it ran: pure functions of the recorded facts."""
