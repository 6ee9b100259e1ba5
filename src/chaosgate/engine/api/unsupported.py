"""Fields that change the answer and that this engine does not carry out, by path.

Each has the values that change nothing, the first of them the default; any other is refused, see
`fields.refuse_other_than`. The names are OpenAI's, then vLLM's.
"""

from __future__ import annotations

from typing import Any, Final

Only = dict[str, tuple[Any, ...]]

_TEMPLATE: Final[Only] = {
    "tools": ([],),
    "documents": ([],),
    "chat_template": (None,),
    "chat_template_kwargs": ({},),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
}

_GENERATING: Final[Only] = {
    **_TEMPLATE,
    "n": (1,),
    "best_of": (1,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "top_k": (-1, 0),
    "min_p": (0,),
    "min_tokens": (0,),
    "repetition_penalty": (1,),
    "length_penalty": (1,),
    "use_beam_search": (False,),
    "early_stopping": (False,),
    "stop_token_ids": ([],),
    "include_stop_str_in_output": (False,),
    "bad_words": ([],),
    "allowed_token_ids": (None,),
    "logits_processors": ([],),
    "skip_special_tokens": (True,),
    "truncate_prompt_tokens": (None,),
    "prompt_embeds": (None,),
    "prompt_logprobs": (0,),
    "return_token_ids": (False,),
    "return_tokens_as_token_ids": (False,),
    "structured_outputs": (None,),
    "structural_tag": (None,),
    "guided_json": (None,),
    "guided_json_object": (False,),
    "guided_regex": (None,),
    "guided_choice": (None,),
    "guided_grammar": (None,),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "modalities": (["text"],),
    "web_search_options": (None,),
}

COMPLETION_ONLY: Final[Only] = {
    **_GENERATING,
    "suffix": ("",),
    "response_format": ({"type": "text"},),
    "add_special_tokens": (True,),
}

CHAT_ONLY: Final[Only] = {**_GENERATING, "echo": (False,), "add_special_tokens": (False,)}

EMBEDDINGS_ONLY: Final[Only] = {
    "truncate_prompt_tokens": (None,),
    "add_special_tokens": (True,),
    "normalize": (True,),
    "embed_dtype": ("float32",),
    "endianness": ("little", "native"),
}

TOKENIZE_ONLY: Final[Only] = _TEMPLATE
