"""The filter kinds: guards that the gateway puts in front of a model, one file each."""
