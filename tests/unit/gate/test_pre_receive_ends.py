"""The git hook when a push ends early, when two come at once, and when an earlier one left something behind."""

from __future__ import annotations

import os
import signal

import pytest
from gate_rig import MAIN, FakeChaosgate, Receiver, spec
from small_drill import eventually


def hanging(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.clone.commit({"chaos-specs/a.yaml": spec(more="hang")})


def drilling(fake: FakeChaosgate) -> None:
    eventually(lambda: "run chaos-specs/a.yaml" in fake.commands(), "the drill")


def test_nothing_is_left_when_the_pusher_interrupts(receiver: Receiver, fake: FakeChaosgate) -> None:
    before = receiver.take_in()
    hanging(receiver, fake)
    with receiver.start("main") as process:
        drilling(fake)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode != 0
    eventually(lambda: not receiver.left(), "the end of the hook")
    assert "ended by SIGTERM" in fake.log.read_text()
    assert receiver.refs() == {MAIN: before}


@pytest.mark.thorough
@pytest.mark.slow
def test_nothing_is_left_when_the_connection_is_cut(receiver: Receiver, fake: FakeChaosgate) -> None:
    before = receiver.take_in()
    # How often git looks whether the other end is there; by default every 5 s.
    receiver.bare.git("config", "receive.keepAlive", "1")
    hanging(receiver, fake)
    with receiver.start("main") as process:
        drilling(fake)
        process.kill()
        process.communicate(timeout=60)
    eventually(lambda: not receiver.left(), "the end of the hook")
    # The drill would have hung for a minute, and passed.
    assert "ended by SIGTERM" in fake.log.read_text()
    assert receiver.refs() == {MAIN: before}


def test_a_push_waits_for_the_one_before_it(receiver: Receiver, fake: FakeChaosgate) -> None:
    receiver.configure(protect="refs/heads/*")
    hanging(receiver, fake)
    with receiver.start("main") as first:
        drilling(fake)
        receiver.clone.commit({"chaos-specs/a.yaml": spec("b")})
        with receiver.start("main:next") as second:
            assert second.stdout is not None
            said = iter(second.stdout.readline, "")
            eventually(lambda: "waiting until another push has been judged" in next(said), "the second push")
            os.killpg(first.pid, signal.SIGINT)
            first.communicate(timeout=60)
            second.communicate(timeout=60)
    assert (first.returncode != 0, second.returncode) == (True, 0)
    assert set(receiver.refs()) == {"refs/heads/next"}


def test_what_a_killed_hook_left_goes_with_the_next_push(receiver: Receiver) -> None:
    (receiver.state / "pushes" / "old").mkdir(parents=True)
    receiver.clone.commit({"chaos-specs/a.yaml": spec()})
    assert receiver.push("main")[0]
    assert receiver.left() == []
