"""One request on its way through the engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chaosgate.engine.network.sites import HookError, transformed
from chaosgate.engine.network.stored import Array
from chaosgate.engine.network.tokenizer import Detokenizer
from chaosgate.engine.network.vocabulary import EOS
from chaosgate.engine.runtime.blocks import root_key
from chaosgate.engine.runtime.cache import Holding
from chaosgate.engine.runtime.grammar import JsonGrammar
from chaosgate.engine.runtime.sampler import Sampling, Shares, logprobs, sample
from chaosgate.engine.runtime.stops import StopScanner
from chaosgate.model.sites import WITHOUT_CACHE, Hooks, Phase, SiteContext, Transform

FinishReason = Literal["stop", "length", "error"]


@dataclass(frozen=True)
class Generation:
    """What to generate: after `prompt` (token ids) up to `max_tokens` tokens, fewer on `<eos>` or a stop string.

    `adapter` names a LoRA adapter, None is the base model. `grammar` "json" keeps the answer to one JSON object, which
    is whole within `max_tokens`. `logprobs` asks for the log-probability of each token and of so many best ones beside
    it, 0 for none beside it. `hooks` are transforms at the engine's sites for this request alone; `request` and
    `tenant` are what they are told of it. `salt` keeps its cache blocks to requests of the same salt.
    """

    prompt: tuple[int, ...]
    max_tokens: int
    sampling: Sampling = field(default_factory=Sampling)
    stops: tuple[str, ...] = ()
    ignore_eos: bool = False
    adapter: str | None = None
    tenant: str | None = None
    logprobs: int | None = None
    grammar: Literal["json"] | None = None
    hooks: Hooks | None = None
    request: str = ""
    salt: str = ""


@dataclass(frozen=True)
class Delta:
    """One generated token: the text it adds (maybe none), and at the last one why it is the last.

    `at` is `time.monotonic()` of its making. `logprob` and `top` (best first) are natural logarithms under the softmax
    of the logits, before temperature and top-p; None and empty unless asked for. `cached` counts the prompt tokens
    whose keys and values were found in the cache, `queued` is the seconds before it first ran. With `finish` "error"
    there is no token: `error` says what happened to the request, and is empty where the engine died.
    """

    text: str
    finish: FinishReason | None
    at: float
    token: int = -1
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()
    cached: int = 0
    queued: float = 0.0
    error: str = ""


class Sequence:
    """A `Generation` with its progress. The scheduler's thread owns it; others only set `cancelled`.

    `tokens` are those of the prompt and then the generated ones, the keys and values of the first `computed` are in the
    cache, in the blocks of `holding`. `transforms` are its hooks by full site name.
    """

    def __init__(self, generation: Generation, transforms: Mapping[str, Transform] = MappingProxyType({})) -> None:
        self.generation = generation
        self.transforms = transforms
        self.tokens = list(generation.prompt)
        self.computed = 0
        self.cached: int | None = None
        self.queued = 0.0
        self.holding: Holding | None = None
        self.answer: list[Delta] = []
        self.place: tuple[float, int] = (0.0, 0)
        self.finished = False
        self.cancelled = False
        self._prompt = len(generation.prompt)
        self._made = time.monotonic()
        self.replaces = any(site not in WITHOUT_CACHE for site in transforms)
        """Whether its hooks must touch every token: it reads nothing of others, and what it shares replaces theirs."""
        hooks = generation.hooks or Hooks({})
        shares = hooks.shares or not self.replaces
        self.key = root_key(generation.adapter or "", generation.salt, hooks.salt) if shares else None
        """On what its blocks' content depends; None where no other request may find them."""
        self._random = generation.sampling.generator()
        self._detokenizer = Detokenizer()
        self._scanner = StopScanner(generation.stops)
        self._grammar = JsonGrammar() if generation.grammar == "json" else None

    @property
    def held(self) -> Holding:
        """The holding of a running request."""
        assert self.holding is not None, "it does not run"
        return self.holding

    @property
    def generated(self) -> int:
        """Tokens generated so far."""
        return len(self.tokens) - self._prompt

    @property
    def phase(self) -> Phase:
        """Of the next token to compute."""
        return "prefill" if self.computed < self._prompt else "decode"

    @property
    def due(self) -> int:
        """Tokens to compute before the next one can be drawn; up to the end of the prompt, where the phase changes."""
        end = self._prompt if self.computed < self._prompt else len(self.tokens)
        return end - self.computed

    def advance(self, logits: Array) -> Delta:
        """Draws the next token from `logits` (vocabulary,). A hook that fails ends the request."""
        try:
            return self._advance(logits)
        except HookError as error:
            return self.fail(str(error))

    def fail(self, message: str) -> Delta:
        """Ends the request without a token."""
        self.finished = True
        return Delta("", "error", time.monotonic(), error=message)

    def enter(self, number: int, vocabulary: int) -> None:
        """Puts the prompt and the place in line, as arrival `number`, through their hooks; HookError if one fails."""
        tokens = self._hooked("tokenizer", np.array(self.tokens), 0, self._prompt)
        if tokens.min() < 0 or tokens.max() >= vocabulary:
            raise HookError(
                f"the hook at tokenizer gave ids {tokens.min()} to {tokens.max()}; they are 0 to {vocabulary - 1}"
            )
        self.tokens = tokens.tolist()
        priority = float(self._hooked("scheduler", np.array([float(number)]), 0, self._prompt)[0])
        if math.isnan(priority):
            raise HookError("the hook at scheduler gave a place in line that is not a number")
        self.place = (priority, number)

    def admitted(self) -> None:
        """Notes that it begins to run, with what was found in the cache `computed`; only the first time counts."""
        if self.cached is None:
            self.cached = self.computed
            self.queued = time.monotonic() - self._made

    def _advance(self, logits: Array) -> Delta:
        generation = self.generation
        left = generation.max_tokens - self.generated
        allowed = None if self._grammar is None else self._grammar.allowed(left)
        token = sample(logits, generation.sampling, self._random, allowed, self._sampler_hook())
        self.tokens.append(token)
        if self._grammar is not None:
            self._grammar.push(token)
        text, finish = self._text(token)
        self.finished = finish is not None
        chance, top = (None, ()) if generation.logprobs is None else logprobs(logits, token, generation.logprobs)
        return Delta(text, finish, time.monotonic(), token, chance, top, self.cached or 0, self.queued)

    def _text(self, token: int) -> tuple[str, FinishReason | None]:
        if "detokenizer" in self.transforms:
            token = int(self._hooked("detokenizer", np.array([token]), len(self.tokens) - 1, 1)[0])
        text, stopped = self._scanner.push(self._detokenizer.push(token))
        finish = self._finish(stopped)
        if finish and not stopped:
            rest, stopped = self._scanner.push(self._detokenizer.flush())
            text += rest + self._scanner.flush()
        return text, finish

    def _finish(self, stopped: bool) -> FinishReason | None:
        if stopped or (self._grammar is not None and self._grammar.done):
            return "stop"
        if self.tokens[-1] == EOS and not self.generation.ignore_eos:
            return "stop"
        return "length" if self.generated >= self.generation.max_tokens else None

    def _sampler_hook(self) -> Callable[[Shares], Shares] | None:
        if "sampler" not in self.transforms:
            return None
        return lambda shares: self._hooked("sampler", shares, len(self.tokens) - 1, 1)

    def _hooked(self, site: str, array: NDArray[Any], first: int, count: int) -> NDArray[Any]:
        if site not in self.transforms:
            return array
        phase: Phase = "prefill" if first < self._prompt else "decode"
        own = self.generation
        context = SiteContext(site, None, None, first, count, phase, own.request, own.tenant)
        answer: NDArray[Any] = transformed(self.transforms[site], array, context)
        return answer
