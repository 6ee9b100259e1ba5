"""Intervals and curves over counts of requests: pure numerics that estimates, fits and plots share. Needs numpy."""
