"""A load under the names and meanings of other tools: what their users compare with."""
