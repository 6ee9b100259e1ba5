"""Repositories that are pushed to, and a stand-in for chaosgate whose answers stand in the specs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = Path(__file__).resolve().parent
SCRIPTS = ROOT / "scripts" / "gate"
HOOK = ROOT / "hooks" / "pre-receive"

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
"""The environment in which git reads no configuration but the repository's own."""

MAIN = "refs/heads/main"
SPEC = "apiVersion: chaosgate/v1\nkind: ChaosSpec\nmetadata: {{name: {name}}}\n{more}"


def spec(name: str = "one", more: str = "") -> str:
    """A spec as far as the stand-in reads it; `more` may hold its answers."""
    return SPEC.format(name=name, more=f"{more}\n" if more else "")


@dataclass
class GitRepository:
    """A repository with a work tree."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> GitRepository:
        """An empty one; the branch is `main`."""
        folder.mkdir(parents=True)
        made = cls(folder)
        made.git("init", "--quiet", "--initial-branch=main")
        return made

    def git(self, *words: str) -> str:
        """What `git WORDS` prints, without the last line end."""
        done = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, env={**os.environ, **GIT})
        assert done.returncode == 0, (words, done.stderr)
        return os.fsdecode(done.stdout).rstrip("\n")

    def commit(self, files: Mapping[str, str | None], message: str = "change") -> str:
        """A commit in which each file holds its text, and those of None are gone; returns its id."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self.commit_all(message)

    def commit_all(self, message: str = "change") -> str:
        """A commit of the work tree as it is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@dataclass
class FakeChaosgate:
    """The stand-in of fake_chaosgate.py as a command."""

    file: Path
    log: Path

    @classmethod
    def create(cls, folder: Path) -> FakeChaosgate:
        """The command `chaosgate` in `folder`; it logs its calls beside itself."""
        folder.mkdir(parents=True)
        made = cls(folder / "chaosgate", folder / "calls.jsonl")
        words = " ".join(map(shlex.quote, (sys.executable, "-I", str(SUPPORT / "fake_chaosgate.py"))))
        made.file.write_text(f'#!/bin/sh\nexport FAKE_LOG={shlex.quote(str(made.log))}\nexec {words} "$@"\n')
        made.file.chmod(0o755)
        return made

    def path(self) -> str:
        """PATH with the stand-in first."""
        return f"{self.file.parent}{os.pathsep}{os.environ['PATH']}"

    def calls(self) -> list[dict[str, object]]:
        """Each call: its words, state directory and working directory."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def commands(self) -> list[str]:
        """The command of each call with its last word."""
        words = [call["words"] for call in self.calls()]
        return [f"{one[0]} {one[-1]}" for one in words if isinstance(one, list)]


@dataclass
class Receiver:
    """A bare repository with the hook, and a clone from which it is pushed to."""

    bare: GitRepository
    clone: GitRepository

    @classmethod
    def create(cls, folder: Path) -> Receiver:
        """An empty one; the hook comes by its installer."""
        bare = GitRepository(folder / "models.git")
        bare.folder.mkdir(parents=True)
        bare.git("init", "--quiet", "--bare", "--initial-branch=main")
        clone = GitRepository.create(folder / "clone")
        clone.git("remote", "add", "origin", str(bare.folder))
        installed = subprocess.run([sys.executable, SCRIPTS / "install_hook.py", bare.folder], capture_output=True)
        assert installed.returncode == 0, installed.stderr
        return cls(bare, clone)

    @property
    def state(self) -> Path:
        """Where the hook keeps its runs."""
        return self.bare.folder / "chaosgate"

    def configure(self, **settings: str) -> None:
        """Set `chaosgate.<name>`."""
        for name, value in settings.items():
            self.bare.git("config", "--add", f"chaosgate.{name}", value)

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start `git push origin WORDS` in a process group of its own."""
        return subprocess.Popen(
            ["git", "push", "origin", *words],
            cwd=self.clone.folder,
            env={**(env or os.environ), **GIT},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def push(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[bool, str]:
        """Whether the push was taken in, and what the hook said, without what git puts around it."""
        with self.start(*words, env=env) as process:
            output, _ = process.communicate(timeout=300)
        lines = [line.removeprefix("remote: ").rstrip() for line in output.splitlines() if line.startswith("remote: ")]
        return process.returncode == 0, "\n".join(line.removeprefix("chaosgate: ") for line in lines)

    def take_in(self) -> str:
        """A commit on `main` that makes nothing due, and is taken in; returns its id."""
        head = self.clone.commit({"README.md": "x"})
        taken, said = self.push("main")
        assert taken, said
        return head

    def refs(self) -> dict[str, str]:
        """The references of the bare repository."""
        lines = self.bare.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    def left(self) -> list[str]:
        """What is left of the checkouts of pushes."""
        return [str(path) for path in self.state.glob("pushes*")]
