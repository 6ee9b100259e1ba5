"""Faults of the request on its way through the gateway."""
