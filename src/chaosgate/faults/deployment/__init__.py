"""Faults of Deployments."""
