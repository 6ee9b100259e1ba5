"""Runs that Argo Workflows carries. A run is the workflow that bears its id as its name."""
