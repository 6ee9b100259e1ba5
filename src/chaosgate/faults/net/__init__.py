"""Faults of the network between pods."""
