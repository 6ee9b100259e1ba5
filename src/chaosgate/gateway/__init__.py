"""The gateway every request of a run passes: it keeps the run's clock, injects wire faults and writes the ledger."""
