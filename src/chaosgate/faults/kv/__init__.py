"""Faults of the keys and values that a request leaves in the cache."""
