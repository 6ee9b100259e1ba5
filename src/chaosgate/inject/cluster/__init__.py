"""Faults of Kubernetes objects: carried out, noted down on what they change, and undone by the run id."""
