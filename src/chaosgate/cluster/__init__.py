"""The Kubernetes API as far as chaosgate needs it; the only package that imports the `kubernetes` client."""
