#!/usr/bin/env python3
"""The last job of a workflow: fails unless every job it needs ended in success.

Reads NEEDS, the JSON of the `needs` context: {job: {"result": ...}}. A required check counts a skipped job as a
success, so that a job which never ran could let a change in; here only `success` itself is success.
Source: https://docs.github.com/en/actions/reference/workflows-and-actions/contexts#needs-context
"""

from __future__ import annotations

import json
import os
import sys


def failures(needs: str) -> list[str]:
    """What keeps the workflow from being green, a sentence each."""
    try:
        jobs = {name: job["result"] for name, job in json.loads(needs).items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["NEEDS holds no jobs; set it to ${{ toJSON(needs) }}"]
    if not jobs:
        return ["this job needs no other; name every job in its `needs`"]
    return [f"{name}: {result}" for name, result in jobs.items() if result != "success"]


def main() -> int:
    """Print what is not green; 0 when all is, else 1."""
    found = failures(os.environ.get("NEEDS", ""))
    for failure in found:
        print(f"::error title=not green::{failure}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
