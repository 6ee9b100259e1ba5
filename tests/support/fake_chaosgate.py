"""A stand-in for the command chaosgate, as far as the git gate calls it: what it answers stands in the specs.

A line with `broken` is a problem; `uncompilable: argo` does not compile; `answer: 1` is the exit code of a run and
`claims: 0` the one it tells; `hang` waits for a signal; `crash: run` ends the command `run` like a fault of its own.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

VERDICTS = {"0": "pass", "1": "fail"}


def main(words: list[str]) -> int:
    """Answer one call; calls are logged to $FAKE_LOG."""
    log_call(words)
    command, files = words[0], words[words.index("--") + 1 :] if "--" in words else []
    if any(f"crash: {command}" in Path(file).read_text() for file in files):
        print("Traceback (most recent call last):\nValueError: out of luck", file=sys.stderr)
        return 1
    match command:
        case "validate":
            return validate(files)
        case "compile":
            return compile_(files[0], option(words, "--to"), Path(option(words, "-O")))
        case "run":
            return run(Path(files[0]).read_text())
    return report(words[1], option(words, "--format"), Path(option(words, "-O")))


def log_call(words: list[str]) -> None:
    """A line of JSON for each call."""
    call = {"words": words, "state": os.environ["CHAOSGATE_STATE"], "cwd": os.getcwd()}
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(json.dumps(call) + "\n")


def option(words: list[str], name: str) -> str:
    """The value of an option."""
    return words[words.index(name) + 1]


def said(text: str, key: str, default: str) -> str:
    """What a spec says of `key`."""
    return next(iter(re.findall(rf"{key}: *([\w.-]+)", text)), default)


def validate(files: list[str]) -> int:
    """A report for each file."""
    reports = [about(file, Path(file).read_text()) for file in files]
    print(json.dumps(reports))
    return 2 if any(one["problems"] for one in reports) else 0


def about(file: str, text: str) -> dict[str, Any]:
    """The report of one file."""
    problems = [
        {"file": file, "line": number, "column": 1, "text": f"{file}:{number}:1 spec: read {line!r}"}
        for number, line in enumerate(text.splitlines(), 1)
        if "broken" in line
    ]
    engine, labels = said(text, "engine", "embedded"), {"suite": said(text, "suite", "none")}
    return {"file": file, "name": said(text, "name", "one"), "labels": labels, "engine": engine, "problems": problems}


def compile_(file: str, carrier: str, target: Path) -> int:
    """A pipeline that names what it is made of."""
    if f"uncompilable: {carrier}" in Path(file).read_text():
        print(f"cannot be compiled for {carrier}", file=sys.stderr)
        return 2
    target.write_text(f"{carrier} of {file}")
    return 0


def run(text: str) -> int:
    """An outcome as `run -o json` prints it, and a report beside the run."""
    signal.signal(signal.SIGTERM, end)
    if "hang" in text:
        time.sleep(60)
    code, name = said(text, "answer", "0"), said(text, "name", "one")
    folder = Path(os.environ["CHAOSGATE_STATE"]) / "runs" / name
    (folder / "conclude").mkdir(parents=True, exist_ok=True)
    (folder / "conclude" / "report.html").write_text(f"<p>{name}")
    verdict = {"verdict": VERDICTS.get(code, "inconclusive"), "reasons": [{"text": f"because of {name}"}]}
    outcome = {
        "run": name,
        "folder": str(folder),
        "problems": [],
        "verdict": verdict,
        "cleanup": {"clean": code != "4"},
    }
    print(json.dumps({**outcome, "exitCode": int(said(text, "claims", code))}))
    return int(code)


def end(*_: object) -> None:
    """Say in the log that a signal came, and end as chaosgate does."""
    log_call(["ended by SIGTERM"])
    sys.exit(128 + signal.SIGTERM)


def report(name: str, form: str, target: Path) -> int:
    """A report that names what it is of."""
    if os.environ.get("FAKE_NO_REPORT"):
        print("no report today", file=sys.stderr)
        return 3
    target.write_text(f"{form} of {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
