"""Faults of single containers."""
