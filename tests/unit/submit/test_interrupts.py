"""Signals while a run elsewhere is waited for."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from chaosgate.submit.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_counted_and_the_first_one_stays(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert interrupts.signal is None
        os.kill(os.getpid(), number)
        interrupts.wait(0)
        assert (interrupts.signal, interrupts.again) == (number, False)
        os.kill(os.getpid(), signal.SIGTERM)
        interrupts.wait(0)
        assert (interrupts.signal, interrupts.again) == (number, True)
    assert signal.getsignal(number) is before


def test_a_signal_ends_the_wait() -> None:
    with Interrupts() as interrupts:
        sender = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM))
        sender.start()
        begun = time.monotonic()
        interrupts.wait(60)
        sender.join()
        assert time.monotonic() - begun < 30
