"""/tokenize and /detokenize, as vLLM has them."""

from __future__ import annotations

from chaosgate.engine.api import fields
from chaosgate.engine.api.errors import ApiError
from chaosgate.engine.api.fields import Body
from chaosgate.engine.api.prompts import chat_prompt, text_tokens, token_ids
from chaosgate.engine.api.served import ServedModel
from chaosgate.engine.api.token_text import token_text
from chaosgate.engine.api.unsupported import TOKENIZE_ONLY
from chaosgate.engine.network import tokenizer


def tokenize(raw: bytes, served: ServedModel) -> Body:
    """The answer to POST /tokenize: the tokens of `prompt` or of `messages`; ApiError for a bad body.

    `add_special_tokens` false leaves `<bos>` out; `return_token_strs` adds what each token reads as.
    """
    body = _body(raw, served)
    fields.refuse_other_than(body, TOKENIZE_ONLY)
    if body.get("messages") is not None:
        tokens = list(chat_prompt(body, served))
    else:
        prompt = fields.text(body, "prompt")
        if prompt is None:
            raise ApiError('prompt: missing; send "prompt" or "messages"', param="prompt", code="missing_value")
        tokens = list(text_tokens(prompt, "prompt", served))
    if not fields.boolean(body, "add_special_tokens", True):
        tokens = tokens[1:]
    strings = [token_text(token) for token in tokens] if fields.boolean(body, "return_token_strs", False) else None
    return {
        "count": len(tokens),
        "max_model_len": served.max_model_len,
        "tokens": tokens,
        "token_strs": strings,
    }


def detokenize(raw: bytes, served: ServedModel) -> Body:
    """The answer to POST /detokenize: the text of `tokens`; bytes that are no UTF-8 become U+FFFD."""
    tokens = _body(raw, served).get("tokens")
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        fields.wrong_type("tokens", "an array of token ids", tokens)
    return {"prompt": tokenizer.decode(token_ids(tokens, "tokens", "tokens"))}


def _body(raw: bytes, served: ServedModel) -> Body:
    body = fields.read_body(raw)
    # vLLM needs no model here; one that is named must be served.
    if body.get("model") is not None:
        served.adapter(body)
    return body
