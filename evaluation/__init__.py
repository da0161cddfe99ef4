"""Measurements of gnomon itself: how often its statements are true. Nothing here ships in the wheel."""
