"""Sequence claims: recurrent networks, gates, attention, and which positions each can use."""
