"""Networks along time: recurrence, gates, attention and what each may see."""
