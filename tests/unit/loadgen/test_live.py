"""One-second samples and the stop conditions that are judged on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_chat import seen

from chaosgate.errors import RegistryError
from chaosgate.loadgen.live import LiveSample, LiveStats, StopWatch
from chaosgate.loadgen.trace import Pending
from chaosgate.model.observation import Observation
from chaosgate.model.safety import StopCondition


def sample(second: int, *observations: Observation) -> LiveSample:
    return LiveSample(second, observations)


def condition(sli: str, bound: str, consecutive: int = 1) -> StopCondition:
    return StopCondition.model_validate({"sli": sli, "bound": bound, "consecutive": consecutive})


def verdicts(watch: StopWatch, samples: list[LiveSample]) -> list[bool]:
    return [watch.judge(each) is not None for each in samples]


def test_samples_are_cut_at_whole_seconds_of_the_end() -> None:
    stats = LiveStats()
    for end in (0.2, 0.999, 1.0, 3.5):
        stats.add(seen(end))
    assert [(each.second, each.n) for each in stats.close(3.2)] == [(0, 2), (1, 1), (2, 0)]
    assert stats.close(3.9) == []
    assert [(each.second, each.n) for each in stats.close(4.0)] == [(3, 1)]


def test_a_late_observation_counts_in_the_first_open_second() -> None:
    stats = LiveStats()
    stats.close(2.0)
    stats.add(seen(0.5))
    assert [(each.second, each.n) for each in stats.close(3.0)] == [(2, 1)]


@given(st.lists(st.floats(0, 20)), st.lists(st.floats(0, 25)))
def test_every_observation_is_in_exactly_one_sample(ends: list[float], closes: list[float]) -> None:
    stats = LiveStats()
    samples: list[LiveSample] = []
    for end in ends:
        stats.add(seen(end))
    for now in [*closes, 30.0]:
        samples += stats.close(now)
    assert [each.second for each in samples] == list(range(30))
    assert sum(each.n for each in samples) == len(ends)


def test_what_is_shown_of_a_sample() -> None:
    answers = [seen(1.5, ttft=hundredths / 100) for hundredths in range(1, 100)]
    shown = sample(1, *answers, seen(1.5, "error"))
    assert shown.n == 100
    assert shown.error_rate == pytest.approx(0.01)
    assert shown.ttft_p50 == pytest.approx(0.5)
    assert shown.ttft_p99 == pytest.approx(0.99)


def test_an_empty_sample_shows_no_numbers() -> None:
    shown = sample(1)
    assert (shown.n, shown.error_rate, shown.ttft_p50, shown.ttft_p99) == (0, None, None, None)


BAD, GOOD, EMPTY = (seen(1.5, "error"), seen(1.5, "cut"), seen(1.5)), (seen(1.5), seen(1.5)), ()


@pytest.mark.parametrize(
    ("history", "halted"),
    [
        ([BAD, BAD, BAD], [False, False, True]),
        ([BAD, BAD, GOOD, BAD, BAD, BAD], [False, False, False, False, False, True]),
        ([BAD, BAD, EMPTY, BAD], [False, False, False, True]),
        ([GOOD] * 5, [False] * 5),
        ([EMPTY] * 5, [False] * 5),
    ],
)
def test_the_bad_state_must_hold_in_a_row(history: list[tuple[Observation, ...]], halted: list[bool]) -> None:
    watch = StopWatch([condition("error-rate", "> 50 %", consecutive=3)])
    assert verdicts(watch, [sample(second, *each) for second, each in enumerate(history)]) == halted


def test_a_bound_that_is_just_reached_does_not_hold() -> None:
    watch = StopWatch([condition("error-rate", "> 50 %")])
    assert watch.judge(sample(1, seen(1.5), seen(1.5, "error"))) is None


def test_the_reason_says_what_held_how_often_and_until_when() -> None:
    watch = StopWatch([condition("ttft-p95", "> 300ms", consecutive=2)])
    assert watch.judge(sample(6, seen(6.5, ttft=0.4))) is None
    assert watch.judge(sample(7, seen(7.5, ttft=0.5))) == (
        "stop condition ttft-p95 > 300ms: held in 2 one-second samples in a row up to 8 s, last at 500ms"
    )


@pytest.mark.parametrize("sli", ["ttft-p50", "e2e-p99"])
def test_failed_requests_are_infinitely_slow(sli: str) -> None:
    watch = StopWatch([condition(sli, "> 60s")])
    assert watch.judge(sample(1, seen(1.5))) is None
    reason = watch.judge(sample(2, seen(2.5, "timeout")))
    assert reason is not None
    assert reason.endswith("last at inf")


def test_warm_up_requests_do_not_count() -> None:
    watch = StopWatch([condition("error-rate", "> 50 %")])
    assert watch.judge(sample(1, seen(1.5, "error", warmup=True))) is None
    assert watch.judge(sample(2, seen(2.5, "error", warmup=True), seen(2.5, "error"))) is not None


def in_flight(scheduled: float, first: float | None = None, warmup: bool = False) -> Pending:
    return Pending("7.block1.0", scheduled, first, warmup)


@pytest.mark.parametrize(
    ("sli", "pending", "counts"),
    [
        ("ttft-p95", in_flight(0.5), True),
        ("ttft-p95", in_flight(0.5, first=2.0), False),
        ("ttft-p95", in_flight(0.5, first=2.9), True),
        ("e2e-p95", in_flight(0.5, first=2.0), True),
        ("e2e-p95", in_flight(1.5), False),
        ("e2e-p95", in_flight(0.5, warmup=True), False),
        ("error-rate", in_flight(0.5), False),
    ],
)
def test_a_request_in_flight_beyond_a_latency_bound_is_infinitely_slow(
    sli: str, pending: Pending, counts: bool
) -> None:
    watch = StopWatch([condition(sli, "> 50 %" if sli == "error-rate" else "> 2s")])
    reason = watch.judge(sample(2), [pending])
    assert (reason is not None) is counts
    assert reason is None or reason.endswith("last at inf")


def test_a_request_in_flight_is_counted_once() -> None:
    watch = StopWatch([condition("e2e-p95", "> 2s", consecutive=2)])
    slow = in_flight(0.5)
    assert verdicts(watch, [sample(0)]) == [False]
    assert [watch.judge(sample(second), [slow]) for second in (2, 3, 4)] == [None] * 3
    assert watch.judge(sample(5, seen(5.5, "timeout"))) is None
    assert watch.judge(sample(6, seen(6.5, "timeout"))) is not None


def test_each_condition_has_its_own_row() -> None:
    watch = StopWatch([condition("error-rate", "> 50 %", consecutive=2), condition("ttft-p50", "> 300ms")])
    assert verdicts(watch, [sample(1, *GOOD), sample(2, seen(2.5, ttft=0.5))]) == [False, True]


def test_no_conditions_never_halt() -> None:
    assert StopWatch([]).judge(sample(1, *BAD)) is None


def test_an_unknown_sli_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RegistryError, match="did you mean 'error-rate'"):
        StopWatch([condition("error-rat", "> 50 %")])


def gauged(second: int, **values: float) -> tuple[LiveSample, tuple[()], dict[str, float]]:
    return sample(second), (), {f"vllm:{name}": value for name, value in values.items()}


def of(**written: object) -> StopWatch:
    return StopWatch([StopCondition.model_validate(written)])


def test_a_share_of_the_last_samples_need_not_be_in_a_row() -> None:
    watch = of(sli="error-rate", bound="> 50 %", share="50 %", of=4)
    assert verdicts(watch, [sample(second, *each) for second, each in enumerate([BAD, GOOD, GOOD, EMPTY, BAD])]) == [
        *[False] * 4,
        True,
    ]


def test_a_sample_that_has_left_the_last_ones_counts_no_more() -> None:
    watch = of(sli="error-rate", bound="> 50 %", share="50 %", of=4)
    history = [BAD, GOOD, GOOD, GOOD, BAD, GOOD, GOOD, BAD]
    assert verdicts(watch, [sample(second, *each) for second, each in enumerate(history)]) == [False] * 7 + [True]


def test_the_reason_of_a_share_says_how_many_held() -> None:
    watch = of(sli="error-rate", bound="> 50 %", share="50 %", of=4)
    assert watch.judge(sample(0, *BAD)) is None
    assert watch.judge(sample(1, *GOOD)) is None
    reason = watch.judge(sample(2, *BAD))
    assert reason == (
        "stop condition error-rate > 50 %: held in 2 of the last 4 one-second samples up to 3 s, last at 66.67 %"
    )


def test_a_gauge_is_held_against_its_bound_each_second() -> None:
    watch = of(gauge="vllm:num_requests_waiting", bound="> 128", consecutive=2)
    assert watch.judge(*gauged(0, num_requests_waiting=129)) is None
    assert watch.judge(*gauged(1, num_requests_waiting=128)) is None
    assert watch.judge(*gauged(2, num_requests_waiting=200)) is None
    assert watch.judge(*gauged(3)) is None
    assert watch.judge(*gauged(4, num_requests_waiting=201)) == (
        "stop condition vllm:num_requests_waiting > 128: held in 2 one-second samples in a row up to 5 s, last at 201"
    )


def test_a_queue_alone_does_not_halt_what_wants_a_full_cache_too() -> None:
    queue = {"gauge": "vllm:num_requests_waiting", "bound": "> 128"}
    full = {"gauge": "vllm:kv_cache_usage_perc", "bound": "> 92 %"}
    watch = of(all=[queue, full], consecutive=1)
    assert watch.judge(*gauged(0, num_requests_waiting=500, kv_cache_usage_perc=0.92)) is None
    assert watch.judge(*gauged(1, num_requests_waiting=100, kv_cache_usage_perc=0.99)) is None
    assert watch.judge(*gauged(2, num_requests_waiting=500)) is None
    assert watch.judge(*gauged(3, num_requests_waiting=500, kv_cache_usage_perc=0.95)) == (
        "stop condition vllm:num_requests_waiting > 128 and vllm:kv_cache_usage_perc > 92 %: held in 1 one-second "
        "samples in a row up to 4 s, last at 500 and 95 %"
    )


def test_an_sli_beside_a_gauge_still_counts_what_hangs_once() -> None:
    watch = of(all=[{"sli": "e2e-p95", "bound": "> 2s"}, {"gauge": "vllm:q", "bound": "> 1"}], consecutive=1)
    slow = in_flight(0.5)
    assert watch.judge(sample(2), [slow], {}) is None
    assert watch.judge(sample(3), [slow], {"vllm:q": 2.0}) is None
