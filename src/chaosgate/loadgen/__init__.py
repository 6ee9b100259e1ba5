"""The load: an open loop of streaming chat requests, seen from the client."""
