"""The embedded engine: a small mixture-of-experts language model with an OpenAI-compatible server, on numpy alone."""
