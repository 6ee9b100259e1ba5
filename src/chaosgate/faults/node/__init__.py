"""Faults of nodes, for the pods that run on them."""
