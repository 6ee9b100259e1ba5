"""Faults of a conversation as a whole: what was said before the question."""
