"""Faults of a session, to which the turns of a conversation belong."""
