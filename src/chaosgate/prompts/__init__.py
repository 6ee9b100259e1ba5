"""Prompts with known answers: tasks that draw them, and named sets."""
