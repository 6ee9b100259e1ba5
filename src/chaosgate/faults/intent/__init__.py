"""Faults of the step before the model that tells what a user wants."""
