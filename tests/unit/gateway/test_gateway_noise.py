"""The language of noise: what each word makes, its limits, and with which words a line is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.gateway.noise import MAX_TERMS, PREFIX, WORDS, noise_faults
from chaosgate.model.fault import FAULTS, RequestFault, WireFault
from chaosgate.model.request_facts import RequestFacts
from chaosgate.model.standing import dose_of


def read(line: str) -> list[tuple[str, str, float, float]]:
    """Name, kind, dose and share of each fault of a line."""
    faults = [fault for fault in noise_faults(line) if isinstance(fault, RequestFault)]
    return [(fault.name, fault.kind, dose_of(fault), fault.select.share) for fault in faults]


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("", []),
        (" , ", []),
        ("latency", [("noise-latency", "wire.latency", 0.05, 1)]),
        ("latency:50ms,p95:true", [("noise-latency", "wire.latency", 0.05, 0.05)]),
        ("latency:50ms,p95", [("noise-latency", "wire.latency", 0.05, 0.05)]),
        ("latency:50ms,p95:false", [("noise-latency", "wire.latency", 0.05, 1)]),
        (
            " error : 20% , latency:2s , p95:true",
            [("noise-error", "wire.error", 0.2, 1), ("noise-latency", "wire.latency", 2, 0.05)],
        ),
        ("token_drop:10%", [("noise-token-drop", "stream.token-drop", 0.1, 1)]),
        ("token-drop", [("noise-token-drop", "stream.token-drop", 0.1, 1)]),
    ],
)
def test_a_line_is_read_in_its_order(line: str, faults: list[tuple[str, str, float, float]]) -> None:
    assert read(line) == faults


@pytest.mark.parametrize("word", WORDS)
def test_every_word_stands_for_a_fault_that_a_gateway_carries(word: str) -> None:
    (fault,) = noise_faults(word)
    assert isinstance(fault, WireFault)
    assert fault.kind == WORDS[word].kind in FAULTS.names()
    assert 0 < dose_of(fault) <= fault.max_dose
    assert fault.name.startswith(PREFIX)


def test_the_tail_is_one_request_in_twenty_drawn_by_its_name() -> None:
    (fault,) = noise_faults("latency:50ms,p95:true")
    hit = [fault.planned(fault.draw(3, f"anonymous.{number}"), RequestFacts("/")) for number in range(20_000)]
    # Binomial(20000, 0.05): mean 1000, standard deviation 31; six of them to either side.
    assert 815 < sum(hit) < 1185
    assert hit[:200] == [
        fault.planned(fault.draw(3, f"anonymous.{number}"), RequestFacts("/")) for number in range(200)
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("latncy:5ms", "unknown word 'latncy'; did you mean 'latency'?"),
        ("latency:5", "latency: dose: read "),
        ("latency:fast", "latency: dose: read 'fast'"),
        ("latency:61s", "latency: dose: read 61s; wire.latency allows 0 to 60s"),
        ("error:101%", "error: dose: read '101%'; a share is at most 100 %"),
        ("p95:true,latency", "p95: stands before every other term; write it after the one that it belongs to"),
        ("latency,p95:maybe", "p95: read 'maybe'; write true or false"),
        ("latency:5ms,latency:6ms", "latency: is written twice; write it once"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_whole(line: str, says: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(says)):
        noise_faults(line)
    if not line.startswith("p95"):
        with pytest.raises(ValueError, match="^" + re.escape(says)):
            noise_faults(f"stall,{line}")


def test_a_line_has_so_many_terms_at_most() -> None:
    words = list(WORDS)
    assert len(noise_faults(",".join(words[:MAX_TERMS]))) == MAX_TERMS
    with pytest.raises(ValueError, match=f"read {MAX_TERMS + 1} terms; at most {MAX_TERMS} are allowed"):
        noise_faults(",".join(words[: MAX_TERMS + 1]))


@given(st.text(max_size=60) | st.lists(st.sampled_from([*WORDS, "p95", ":", "5ms", "10%", ","])).map("".join))
def test_whatever_is_written_is_read_or_refused(line: str) -> None:
    try:
        faults = noise_faults(line)
    except ValueError:
        return
    assert len(faults) <= MAX_TERMS
    assert all(isinstance(fault, WireFault) for fault in faults)
