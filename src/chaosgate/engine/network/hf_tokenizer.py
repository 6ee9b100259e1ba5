"""The tokenizer in the format of Hugging Face's `tokenizers`, and the chat template.

The library has no model of greedy longest match. Two of its steps together are one: a regular expression of all tokens
of several characters, the longest first, cuts them out of the text from left to right, and what it leaves is spelled by
the bytes. Ids are those of `tokenizer.encode` for any text but one that spells a marker such as `<eos>`: the library
reads it as the marker, `tokenizer.encode` as its characters.
"""

from __future__ import annotations

import re
from typing import Any, Final

from chaosgate.engine.network.vocabulary import BOS, BYTES, FIRST_TEXT, SPECIALS, TOKENS

CHAT_TEMPLATE: Final = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ message['content'] + eos_token }}"
    "{% else %}"
    "{% if not loop.first and loop.previtem['role'] != 'assistant' %}{{ '\\n' }}{% endif %}"
    "{{ message['content'] }}"
    "{% endif %}"
    "{% endfor %}"
)
"""A conversation as the model was trained on it: the contents in a row, `<eos>` behind what the assistant said, and a
line feed between two others that follow one another."""


def tokenizer() -> dict[str, Any]:
    """`tokenizer.json`."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_marker(BYTES + index, name) for index, name in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": _longest_first()}, "behavior": "Isolated", "invert": False},
                _byte_level(),
            ],
        },
        "post_processor": _with_bos(),
        "decoder": _byte_level(),
        "model": _model(),
    }


def tokenizer_config(max_model_len: int) -> dict[str, Any]:
    """`tokenizer_config.json`."""
    pad, bos, eos, unknown = SPECIALS
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_model_len,
        "pad_token": pad,
        "bos_token": bos,
        "eos_token": eos,
        "unk_token": unknown,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }


def _marker(index: int, name: str) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": index, "content": name, **flags}


def _longest_first() -> str:
    """An expression that takes, of all tokens that begin at a place, the longest: alternatives are tried in order."""
    texts = [token.decode() for token in TOKENS[FIRST_TEXT:]]
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _byte_level() -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def _with_bos() -> dict[str, Any]:
    name = SPECIALS[BOS - BYTES]
    bos = {"SpecialToken": {"id": name, "type_id": 0}}
    first, second = ({"Sequence": {"id": which, "type_id": 0}} for which in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [bos, first],
        "pair": [bos, first, second],
        "special_tokens": {name: {"id": name, "ids": [BOS], "tokens": [name]}},
    }


def _model() -> dict[str, Any]:
    """A BPE without merges: a piece that is a token is that token, any other falls apart into its bytes."""
    vocabulary = {_visible(token): index for index, token in enumerate(TOKENS) if not BYTES <= index < FIRST_TEXT}
    vocabulary |= {name: BYTES + index for index, name in enumerate(SPECIALS)}
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
        "merges": [],
    }


def _visible(token: bytes) -> str:
    return "".join(_BYTE_CHARACTERS[value] for value in token)


def _byte_characters() -> dict[int, str]:
    """The printable character by which the format writes each byte, as GPT-2's tokenizer does.

    A byte that Latin-1 prints stands for itself, the others for the characters from U+0100 on, in order.
    """
    printed = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [value for value in range(BYTES) if value not in printed]
    return {value: chr(value) for value in printed} | {value: chr(256 + at) for at, value in enumerate(others)}


_BYTE_CHARACTERS: Final = _byte_characters()
