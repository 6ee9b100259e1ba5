"""Faults of what is asked: the prompt is rewritten on its way through the gateway."""
