"""From a plan to what a pipeline engine runs; no engine decides anything that the plan has not decided."""
