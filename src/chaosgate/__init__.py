"""Chaos-as-Code for LLM serving: specs in git, faults under load, fitted thresholds, a deployment verdict."""

__version__ = "0.1.0"
