"""Injecting faults: the client of the gateway's admin interface and the sweep that drives it."""
