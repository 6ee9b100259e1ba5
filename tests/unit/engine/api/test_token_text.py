from __future__ import annotations

import math

from chaosgate.engine.api.token_text import LOWEST, chat_logprobs, completion_logprobs, token_text
from chaosgate.engine.network.vocabulary import EOS, TOKENS
from chaosgate.engine.runtime.sequence import Delta

HELD = Delta("", None, 0.0, token=ord("a"), logprob=-0.5, top=((ord("a"), -0.5), (0xE2, -1.5)))
LAST = Delta("ab", "stop", 0.0, token=EOS, logprob=-math.inf, top=((ord("b"), -0.25), (ord("a"), -2.0)))


def test_every_token_has_a_text_of_its_own() -> None:
    texts = [token_text(token) for token in range(len(TOKENS))]
    assert len(set(texts)) == len(TOKENS)
    assert (texts[ord("a")], texts[0xE2], texts[EOS]) == ("a", "bytes:\\xe2", "<eos>")


def test_logprobs_of_a_chat_have_text_bytes_and_the_best_ones() -> None:
    assert chat_logprobs([HELD]) == {
        "content": [
            {
                "token": "a",
                "logprob": -0.5,
                "bytes": [97],
                "top_logprobs": [
                    {"token": "a", "logprob": -0.5, "bytes": [97]},
                    {"token": "bytes:\\xe2", "logprob": -1.5, "bytes": [0xE2]},
                ],
            }
        ],
        "refusal": None,
    }
    (entry,) = chat_logprobs([LAST])["content"]
    assert (entry["token"], entry["logprob"], entry["bytes"]) == ("<eos>", LOWEST, [])


def test_logprobs_of_a_completion_have_the_drawn_token_among_the_best_ones() -> None:
    assert completion_logprobs([HELD, LAST, HELD], offset=7) == {
        "tokens": ["a", "<eos>", "a"],
        "token_logprobs": [-0.5, LOWEST, -0.5],
        "top_logprobs": [
            {"a": -0.5, "bytes:\\xe2": -1.5},
            {"b": -0.25, "a": -2.0, "<eos>": LOWEST},
            {"a": -0.5, "bytes:\\xe2": -1.5},
        ],
        "text_offset": [7, 7, 9],
    }
