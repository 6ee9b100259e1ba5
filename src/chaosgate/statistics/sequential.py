"""When a stream of requests has told that more of them break a bound than may, looking after each one.

A test that is repeated after each request is wrong more often than once. What is counted here instead is the likelihood
ratio of more broken requests against `usual`: where no more than that are broken it passes 1 / ALARM with a probability
of at most ALARM, however long one looks (Ville 1939; Wald, Annals of Mathematical Statistics 16, 1945; Ramdas,
Grunwald, Vovk & Shafer, Statistical Science 38, 2023). Requests are taken as independent given their share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chaosgate.statistics.arrays import Floats

ALARM = 0.01
"""The probability of ever raising a false alarm."""
_STEPS = np.arange(1, 10) / 10
"""How far the shares that are looked for lie between the usual one and all."""


def alarm_at(broken: Sequence[bool], usual: float) -> int | None:
    """The number of requests after which more than a share `usual`, above 0 and below 1, is shown to be broken.

    None where it never is. The likelihood ratio is the mean of those of nine shares above `usual`.
    """
    if not broken:
        return None
    shares = usual + (1 - usual) * _STEPS
    paths = np.cumsum([_ratios(broken, usual, float(share)) for share in shares], axis=1)
    told = np.logaddexp.reduce(paths, axis=0) - math.log(len(shares)) >= -math.log(ALARM)
    return int(told.argmax()) + 1 if told.any() else None


def settled_after(broken: Sequence[bool], usual: float) -> int | None:
    """After how many of the requests no more than `usual` are broken: 0 where that is never told to be otherwise.

    The end of the broken stretch is the most likely one: where the likelihood ratio of the share broken up to the alarm
    is largest (Page, Biometrika 41, 1954). None where the requests after it raise the alarm again, or there are none.
    """
    alarm = alarm_at(broken, usual)
    if alarm is None:
        return 0
    share = min(float(np.mean(broken[:alarm])), 1 - 1e-3)
    end = int(np.cumsum(_ratios(broken, usual, share)).argmax()) + 1
    rest = broken[end:]
    return end if rest and alarm_at(rest, usual) is None else None


def _ratios(broken: Sequence[bool], usual: float, share: float) -> Floats:
    ratios: Floats = np.where(broken, math.log(share / usual), math.log((1 - share) / (1 - usual)))
    return ratios
