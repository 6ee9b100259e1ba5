"""Public traces are read by the names of their columns; what is not one of them is refused with the names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import UsageError
from chaosgate.model.arrivals import TraceArrivals, TraceRows
from chaosgate.model.enclosed import OF_SPEC
from chaosgate.model.trace_file import read_trace

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2023-11-16 18:17:04.0781490,110,27
"""
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.009930+00:00,2162,5
2024-05-10 00:00:01.017335+00:00,2399,6
"""
BURST_GPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
45,GPT-4,417,0,417,API log
"""
MOONCAKE = """{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}
{"timestamp": 3052, "input_length": 7319, "output_length": 490, "hash_ids": [0, 14]}
"""


@pytest.mark.parametrize(
    ("text", "file", "times", "inputs", "outputs"),
    [
        (AZURE, "azure.csv", (0.0, 0.052, 0.098189), (4808, 3180, 110), (10, 8, 27)),
        (AZURE_2024, "azure.csv", (0.0, 1.007405), (2162, 2399), (5, 6)),
        # A response of 0 tokens is one that failed when the trace was taken; a request cannot ask for none.
        (BURST_GPT, "burst.csv", (0.0, 40.0, 40.0), (472, 1087, 417), (18, 230, 1)),
        (MOONCAKE, "mooncake.jsonl", (0.0, 3.052), (6758, 7319), (500, 490)),
        ("at\n1.5\n0.5\n", "own.csv", (0.0, 1.0), None, None),
        ('{"at": 3, "input": 5}\n{"at": 4, "input": 6}\n', "own.jsonl", (0.0, 1.0), (5, 6), None),
    ],
)
def test_a_trace_is_read_by_its_columns(
    text: str,
    file: str,
    times: tuple[float, ...],
    inputs: tuple[int, ...] | None,
    outputs: tuple[int, ...] | None,
) -> None:
    read = read_trace(text.encode(), file)
    assert read.times == pytest.approx(times, abs=1e-6)
    assert (read.inputs, read.outputs) == (inputs, outputs)


def test_the_end_of_summer_time_moves_no_request() -> None:
    text = "TIMESTAMP\n2023-10-29 02:59:59.5+02:00\n2023-10-29 02:00:00.5+01:00\n2023-10-29T01:00:01Z\n"
    assert read_trace(text.encode(), "azure.csv").times == (0.0, 1.0, 1.5)


def test_digits_of_a_second_are_digits() -> None:
    with pytest.raises(UsageError, match=r"azure.csv:2: TIMESTAMP: read '2023-10-29 02:59:59.5e3'"):
        read_trace(b"TIMESTAMP\n2023-10-29 02:59:59.5e3\n", "azure.csv")


def test_times_too_far_apart_to_count_are_refused() -> None:
    with pytest.raises(UsageError, match=r"own.csv: reaches from -1e\+308 s to 1e\+308 s"):
        read_trace(b"at\n-1e308\n1e308\n", "own.csv")


def test_lines_in_another_order_keep_their_lengths() -> None:
    read = read_trace(b"at,input\n9,3\n1,1\n5,2\n", "own.csv")
    assert (read.times, read.inputs) == ((0.0, 4.0, 8.0), (1, 2, 3))


@pytest.mark.parametrize(
    ("text", "file", "said"),
    [
        (
            "time,tokens\n1,2\n",
            "t.csv",
            "t.csv: read the columns 'time', 'tokens'; a trace has those of one of: TIMESTAMP, ContextTokens, "
            "GeneratedTokens (Azure); Timestamp, Request tokens, Response tokens (BurstGPT); timestamp, input_length, "
            "output_length (Mooncake); at, input, output (plain)",
        ),
        ("at\nsoon\n", "t.csv", "t.csv:2: at: read 'soon', which is no time"),
        ("at\nnan\n", "t.csv", "t.csv:2: at: read 'nan', which is no time: a finite number"),
        ("at,input\n1,2.5\n", "t.csv", "t.csv:2: input: read '2.5'; a length is a whole number up to 200000"),
        ("at,input\n1,-2\n", "t.csv", "t.csv:2: input: read '-2'; a length is a whole number up to 200000"),
        ("at,output\n1,99999\n", "t.csv", "t.csv:2: output: read '99999'; a length is a whole number up to 32768"),
        ('{"at": true}\n', "t.jsonl", "t.jsonl:1: at: read True, which is no time: a number"),
        ('{"at": 1, "input": 2}\n{"at": 2}\n', "t.jsonl", "t.jsonl:2: 'input' is missing; every line of a trace has"),
        ("[1]\n", "t.jsonl", 't.jsonl:1: a line is an object such as {"at": 0.5, "input": 120, "output": 64}'),
        ("{\n", "t.jsonl", "t.jsonl:1: is no JSON: "),
        ("at\n", "t.csv", "t.csv: holds no request; write lines such as at,input,output and 0.5,120,64"),
        ("at\n1\n", "t.json", "t.json: read the ending '.json'; a trace is a .csv or a .jsonl file"),
        ("TIMESTAMP\nyesterday\n", "t.csv", "t.csv:2: TIMESTAMP: read 'yesterday', which is no time"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, file: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_trace(text.encode(), file)
    assert str(refused.value).startswith(said)


def test_a_file_that_is_no_utf8_is_refused() -> None:
    with pytest.raises(UsageError, match=r"t.csv: byte 3 is no UTF-8; save the file as UTF-8"):
        read_trace(b"at\n\xff\n", "t.csv")


lengths = st.none() | st.lists(st.integers(1, 200_000), min_size=20, max_size=20).map(tuple)


@given(st.lists(st.integers(0, 10**10), min_size=20, max_size=20).map(sorted), lengths, lengths)
def test_rows_are_read_back_as_they_were_written(
    micros: list[int], inputs: tuple[int, ...] | None, outputs: tuple[int, ...] | None
) -> None:
    times = tuple(at / 1e6 for at in micros)
    text = str(TraceRows(times, inputs, outputs))
    read = TraceArrivals.model_validate({"process": "trace", "file": "t.csv", "rows": text})
    assert (read.times, read.inputs, read.outputs) == (times, inputs, outputs)


def test_the_longest_trace_of_a_spec_fits_into_what_argo_hands_to_a_step() -> None:
    lines = "\n".join(f"{at / 7:.6f},{1000 + at % 5000},{at % 900}" for at in range(OF_SPEC.requests))
    read = read_trace(f"at,input,output\n{lines}\n".encode(), "t.csv")
    assert len(str(read)) < 110_000
