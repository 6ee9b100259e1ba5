"""The fit kinds, a file each: from the windows of a sweep to a threshold."""
