"""The fault kinds: a folder a family, a file a kind."""
