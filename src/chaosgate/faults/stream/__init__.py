"""Faults of the answer while it streams through the gateway."""
