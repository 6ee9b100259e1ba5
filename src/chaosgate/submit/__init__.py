"""Runs that a cluster carries: submitted, followed, stopped and fetched from here through its API server."""
