"""Many requests on one model: cache, batches, scheduling, sampling."""
