"""Claims about networks on sequences: recurrent networks, gates, attention, and which positions each can use."""
