"""The SLI kinds, a file each: from one request to a number."""
