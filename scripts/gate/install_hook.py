#!/usr/bin/env python3
"""Install the git hook pre-receive into a repository that receives pushes.

    install_hook.py REPOSITORY

Copies the hook and its modules, so that the repository does not depend on where they came from; run it again to bring
them up to date. A pre-receive hook of another's making is left alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from changed_specs import GateError, Repository

HERE = Path(__file__).resolve().parent
HOOK = HERE.parent.parent / "hooks" / "pre-receive"
MODULES = (
    "changed_specs.py",
    "chaosgate_command.py",
    "gate_settings.py",
    "pre_receive.py",
    "pushed_commit.py",
    "pusher.py",
    "spec_selection.py",
)
"""What the hook imports."""
MARK = "# A git hook of chaosgate:"
"""The beginning of the hook's second line: by it a hook is known as ours."""


def install(repository: Path) -> Path:
    """Install the hook; returns its path. A GateError when there is no repository, or another hook is in the way."""
    if not repository.is_dir():
        raise GateError(f"{repository}: is no folder; name a repository that receives pushes")
    git = Repository(repository)
    hooks = repository / os.fsdecode(git.git("rev-parse", "--git-path", "hooks")).rstrip("\n")
    target = hooks / "pre-receive"
    if target.exists() and MARK not in target.read_text(encoding="utf-8", errors="replace"):
        raise GateError(
            f"{target}: is another hook; move it to {hooks / 'pre-receive.d'} or the like, install this one, and call "
            "both from a pre-receive of your own, each with the same standard input"
        )
    modules = hooks / "chaosgate-gate"
    modules.mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        shutil.copyfile(HERE / module, modules / module)
    # In one step: a push that comes in meanwhile meets the old hook or the new one.
    new = hooks / "pre-receive.new"
    shutil.copyfile(HOOK, new)
    new.chmod(0o755)
    new.replace(target)
    return target


def main(argv: Sequence[str]) -> int:
    """The command line; 0, or 2 when nothing was installed."""
    parser = argparse.ArgumentParser(description="Install the git hook of chaosgate into a repository.")
    parser.add_argument("repository", type=Path, metavar="REPOSITORY", help="it receives pushes")
    words = parser.parse_args(argv)
    try:
        target = install(words.repository)
    except GateError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"installed {target}; next: git -C {words.repository} config chaosgate.command PATH-OF-CHAOSGATE")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
