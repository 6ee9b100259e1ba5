"""The scorers: what judges texts, one file each. Each names itself, its version and the digest of its weights."""
