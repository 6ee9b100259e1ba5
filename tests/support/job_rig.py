"""A job's script run as the workflow runs it: in the caller's repository, with all it needs in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate_rig import SCRIPTS, GitRepository


@dataclass
class Job:
    """A repository, the script, and what it wrote."""

    repository: GitRepository
    script: str
    out: Path
    environment: Mapping[str, str] | None = None

    @property
    def summary(self) -> str:
        """The step's summary."""
        return (self.out / "summary.md").read_text(encoding="utf-8")

    def start(self, base: str = "", **settings: str) -> subprocess.Popen[str]:
        """Start the script on the change from `base` to the repository's HEAD."""
        self.out.mkdir(exist_ok=True)
        given = {"base": base, "head": "HEAD", "specs": "", "also": "", "profile": "", "carrier": "both", "run": "all"}
        given |= {"minutes": "5", "out": str(self.out), **settings}
        variables = {f"GATE_{name.upper()}": value for name, value in given.items()}
        return subprocess.Popen(
            [sys.executable, SCRIPTS / self.script],
            cwd=self.repository.folder,
            env={**(self.environment or os.environ), **variables, "GITHUB_STEP_SUMMARY": str(self.out / "summary.md")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, base: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        """Run the script to its end."""
        with self.start(base, **settings) as process:
            stdout, stderr = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
