"""Faults of pods: they are deleted, or their limits are cut in place."""
