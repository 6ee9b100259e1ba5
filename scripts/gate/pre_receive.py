"""The git hook pre-receive: a push to a protected branch is taken in only when the gate says yes.

git calls it in the receiving repository with a line `<old> <new> <ref>` for each pushed reference, while the pushed
objects are in quarantine. Exit code 0 takes all references in, anything else refuses all of them. What it prints goes
to whoever pushes. It is set up by `git config chaosgate.<name>`, see docs/git-gate.md.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from changed_specs import DEFAULT_SPECS, Due, GateError, Repository, changed_specs, one_line
from chaosgate_command import ERROR, Chaosgate, Drill, Ending, Report, worst
from gate_settings import minutes
from pushed_commit import check_out, outside_environment, turn
from pusher import Pusher
from spec_selection import Selection, parse_selection

DEFAULTS = {
    "protect": ("refs/heads/main",),
    "specs": DEFAULT_SPECS,
    "also": (),
    "profile": ("",),
    "run": ("all",),
    "minutes": ("30",),
    "command": ("chaosgate",),
    "state": ("",),
    "allowdelete": ("false",),
}
"""Every setting with the values it has when it is not set. Of a setting that takes one value, the last one counts."""
BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
MOST_MINUTES = 24 * 60
INVALID = 2
ANSWERS = {1: "the gate says no", INVALID: "a spec is invalid", ERROR: "there is no answer", 4: "a revert is unproved"}


@dataclass(frozen=True)
class Update:
    """A pushed reference: the commit before, the commit after, and its full name; all zeros stand for none."""

    old: str
    new: str
    ref: str

    @property
    def deletes(self) -> bool:
        """Whether the reference goes."""
        return not self.new.strip("0")


@dataclass(frozen=True)
class Config:
    """The settings of the receiving repository, checked."""

    protect: tuple[str, ...]
    specs: tuple[str, ...]
    also: tuple[str, ...]
    profile: str
    selection: Selection
    seconds: float
    command: str
    state: Path
    allow_delete: bool

    def protects(self, ref: str) -> bool:
        """Whether pushes to `ref` are judged."""
        return any(fnmatchcase(ref, pattern) for pattern in self.protect)


@dataclass
class Work:
    """A pushed commit with the specs that are due in it."""

    commit: str
    due: dict[str, Due] = field(default_factory=dict)


def main() -> int:
    """Judge what stands on standard input; the exit code for git."""
    pusher = Pusher(sys.stderr)
    try:
        updates = [Update(*os.fsdecode(line).rstrip("\n").split(" ", 2)) for line in sys.stdin.buffer]
        repository = Repository()
        config = read_config(repository)
        ending = Ending(config.seconds, pusher.left)
        ending.watch_signals()
        return Gate(repository, config, ending, pusher).receive(updates)
    except GateError as error:
        return refuse(pusher, str(error), error.exit_code)
    except OSError as error:
        return refuse(pusher, f"{error.filename or 'the hook'}: {error.strerror}", ERROR)


@dataclass(frozen=True)
class Gate:
    """The gate of one push."""

    repository: Repository
    config: Config
    ending: Ending
    pusher: Pusher

    def receive(self, updates: Iterable[Update]) -> int:
        """0 when every protected reference may be taken in; nothing is started where no spec is due."""
        judged = [update for update in updates if self.config.protects(update.ref)]
        gone = next((update.ref for update in judged if update.deletes), None)
        if gone and not self.config.allow_delete:
            how = "`chaosgate.allowDelete` in git's configuration decides"
            return refuse(self.pusher, f"{one_line(gone)} may not be deleted; {how}", 1)
        work = self.find_work(update for update in judged if not update.deletes)
        if not any(one.due for one in work):
            return 0
        with turn(self.config.state, self.ending, self.pusher.say) as folder:
            code = self.judge(work, folder)
        if code:
            why = self.ending.why() or ANSWERS.get(code, "the gate was interrupted")
            return refuse(self.pusher, f"{why} (exit code {code})", code)
        self.pusher.say("push accepted")
        return 0

    def find_work(self, updates: Iterable[Update]) -> list[Work]:
        """What is due in each pushed commit; a commit that is pushed to two references is judged once."""
        config, work = self.config, dict[str, Work]()
        also = (*config.also, *([str(PurePosixPath(config.profile))] if config.profile else []))
        for update in updates:
            changes = changed_specs(self.repository, update.old, update.new, config.specs, also)
            self.pusher.say(f"{one_line(update.ref)}: {len(changes.due)} of {changes.total} specs due")
            work.setdefault(update.new, Work(update.new)).due.update({due.file: due for due in changes.due})
        return list(work.values())

    def judge(self, work: Iterable[Work], folder: Path) -> int:
        """Check the commits out below `folder`, validate what is due and, where all is valid, drill what is chosen."""
        environment = {**outside_environment(os.environ), "CHAOSGATE_STATE": str(self.config.state)}
        found = []
        for one in work:
            place = check_out(self.repository, one.commit, folder)
            chaosgate = Chaosgate(self.config.command, place, environment, self.ending, self.config.profile)
            for report in chaosgate.validate(list(one.due)):
                self.tell_report(report, one.due[report.file].why)
                found.append((chaosgate, report))
        if any(report.problems for _, report in found):
            return INVALID
        return worst([self.drill(chaosgate, report) for chaosgate, report in found])

    def tell_report(self, report: Report, why: str) -> None:
        """A line for a spec, and one for each of its problems."""
        self.pusher.say(f"{one_line(report.file)}: {'invalid' if report.problems else 'valid'} ({one_line(why)})")
        for problem in report.problems:
            self.pusher.say(f"  {one_line(problem.text)}")

    def drill(self, chaosgate: Chaosgate, report: Report) -> int:
        """Drill a spec if it is chosen, and say how that ended."""
        name, selection = one_line(report.file), self.config.selection
        if not selection.picks(report.file, report.labels or {}, report.engine or ""):
            self.pusher.say(f"{name}: not drilled, as `chaosgate.run` is {selection.words}")
            return 0
        if why := self.ending.why():
            self.pusher.say(f"{name}: not drilled: {why}")
            return 128 + self.ending.signal if self.ending.signal else ERROR
        self.pusher.say(f"{name}: drill starts")
        done = chaosgate.run(report.file)
        self.tell_drill(done)
        return done.code

    def tell_drill(self, done: Drill) -> None:
        """How a drill ended, why, and where its files are."""
        self.pusher.say(f"{one_line(done.file)}: {done.verdict}, exit code {done.code}")
        for reason in done.reasons:
            self.pusher.say(f"  {one_line(reason)}")
        if done.folder is not None:
            self.pusher.say(f"  files: {done.folder}")


def read_config(repository: Repository) -> Config:
    """The settings `chaosgate.*` of git's configuration; a GateError for a name or a value that is not allowed."""
    given: dict[str, list[str]] = {}
    for entry in repository.git("config", "-z", "--list").decode(errors="replace").split("\0"):
        key, _, value = entry.partition("\n")
        if key.startswith("chaosgate."):
            given.setdefault(key.removeprefix("chaosgate."), []).append(value)
    for name in given.keys() - DEFAULTS.keys():
        raise GateError(_unknown(name))
    values = {name: tuple(given.get(name, default)) for name, default in DEFAULTS.items()}
    last = {name: value[-1] for name, value in values.items() if value}
    return Config(
        protect=values["protect"],
        specs=values["specs"],
        also=values["also"],
        profile=last["profile"],
        selection=parse_selection(last["run"]),
        seconds=60 * minutes(last["minutes"], MOST_MINUTES),
        command=last["command"],
        state=Path(last["state"]).absolute() if last["state"] else _git_folder(repository) / "chaosgate",
        allow_delete=_boolean(last["allowdelete"]),
    )


def _git_folder(repository: Repository) -> Path:
    return Path(os.fsdecode(repository.git("rev-parse", "--absolute-git-dir")).rstrip("\n"))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, DEFAULTS, 1)
    hint = f"did you mean chaosgate.{near[0]}?" if near else f"known: {', '.join(DEFAULTS)}"
    return f"git config chaosgate.{one_line(name)}: unknown; {hint}"


def _boolean(word: str) -> bool:
    if word.lower() not in BOOLEANS:
        raise GateError(f"git config chaosgate.allowDelete: read {one_line(word)!r}; allowed: true, false")
    return BOOLEANS[word.lower()]


def refuse(pusher: Pusher, why: str, code: int) -> int:
    """Say why the push is refused; returns `code`."""
    pusher.say(f"push refused: {why}")
    return code
