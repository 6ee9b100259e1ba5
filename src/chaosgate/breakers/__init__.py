"""The breaker kinds, a file each. There is none yet."""
