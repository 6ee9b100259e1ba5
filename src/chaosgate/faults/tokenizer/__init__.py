"""Faults of the tokenizer: prompts that it takes apart otherwise than their writer meant."""
