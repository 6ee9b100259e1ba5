from __future__ import annotations

import math
from dataclasses import replace

from simulated_run import Conditions, passing_run, simulate

from chaosgate.estimate.series import make_series
from chaosgate.estimate.windows import place_requests


def test_a_point_a_second() -> None:
    requests = place_requests(passing_run()).requests["block1"]
    series = make_series(requests)

    assert [point.at for point in series] == sorted({float(math.floor(r.seen)) for r in requests})
    assert sum(point.requests for point in series) == len(requests)
    assert all(point.errors == 0 for point in series)
    assert all(p.ttft_p50 is not None and p.ttft_p99 is not None and p.ttft_p50 <= p.ttft_p99 for p in series)


def test_errors_are_counted_and_have_no_first_token() -> None:
    requests = place_requests(simulate(conditions=Conditions(failing=1.0))).requests["block1"]
    series = make_series(requests)

    assert all(point.errors == point.requests for point in series)
    assert {point.ttft_p99 for point in series} == {None}


def test_a_request_without_a_time_is_left_out() -> None:
    request = place_requests(passing_run()).requests["baseline"][0]

    assert make_series([replace(request, seen=math.nan)]) == ()
