"""The frozen data everything else speaks in: spec, faults, plan, observations, results. Pure; owns no I/O but YAML."""
