"""Faults of the embedding, where token ids become vectors."""
