"""Bring up a target on Kubernetes: engine, gateway and sweeper as objects that carry the run's label."""
