"""The same load under vLLM's names, against what vLLM's own formulas give for it."""

from __future__ import annotations

import pytest
from export_traces import RUN, Traced

from chaosgate.errors import UsageError
from chaosgate.loadgen.exports.vllm import export, gaps

# Computed from the times of RUN by vLLM's request loop and `calculate_metrics` (vllm/benchmarks at 02cfb53 and 009e6d4,
# 2026), with goodput bounds of ttft 200 ms and tpot 60 ms; an answer without a count had its events with text counted.
VECTOR = {
    "duration": 2.498,
    "completed": 8.0,
    "failed": 2.0,
    "total_input_tokens": 56.0,
    "total_output_tokens": 27.0,
    "request_throughput": 3.202562,
    "request_goodput": 1.601281,
    "output_throughput": 10.808647,
    "total_token_throughput": 33.226581,
    "mean_ttft_ms": 138.375,
    "median_ttft_ms": 119.0,
    "std_ttft_ms": 101.565173,
    "p99_ttft_ms": 358.03,
    "mean_tpot_ms": 97.592593,
    "median_tpot_ms": 77.777778,
    "std_tpot_ms": 53.370615,
    "p99_tpot_ms": 196.25,
    "mean_itl_ms": 86.470588,
    "median_itl_ms": 50.0,
    "std_itl_ms": 74.276208,
    "p99_itl_ms": 284.0,
    "mean_e2el_ms": 322.125,
    "median_e2el_ms": 325.0,
    "std_e2el_ms": 141.000388,
    "p99_e2el_ms": 546.43,
}


def test_every_field_is_what_vllm_reports() -> None:
    found = export([each.observation() for each in RUN], {"ttft": 200, "tpot": 60})
    assert found == pytest.approx(VECTOR, abs=1e-6)


def test_without_bounds_there_is_no_goodput() -> None:
    assert export([each.observation() for each in RUN])["request_goodput"] is None


def test_a_goodput_bound_on_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match="read a goodput bound on 'itl'; write one of ttft, tpot, e2el"):
        export([each.observation() for each in RUN], {"itl": 5})


def test_a_load_without_any_answer_has_zeros() -> None:
    found = export([])
    assert (found["completed"], found["duration"], found["request_throughput"], found["mean_ttft_ms"]) == (0, 0, 0, 0)


def test_events_that_came_in_one_piece_are_gaps_of_nothing() -> None:
    """vLLM's server sends the role and the first token at once: its benchmark counts a gap of almost 0 there."""
    seen = Traced(0.0, 0.0, ((0.25, "open"), (0.25, "text"), (0.5, "end")), 0.5).observation()
    assert gaps(seen) == [0.0, 0.25]
