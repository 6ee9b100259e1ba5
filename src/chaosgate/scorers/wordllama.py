"""wordllama: sentence embeddings from static token vectors, without a network and without torch.

What they see and what they do not: two sentences about the same thing lie close, whatever the order of their words, and
so does the same sentence with one fact changed. No wrong answer can be told from a right one by them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from chaosgate.model.scorer import SCORERS, Scorer
from chaosgate.scorers.texts import REMEMBERED, readable

if TYPE_CHECKING:
    from chaosgate.statistics.arrays import Floats


@SCORERS.register("wordllama")
class WordLlama(Scorer):
    """Mean of token vectors in 256 dimensions, which come with the package wordllama (D. L. Miller, MIT licence).

    They were made from the token embeddings of a large model (`l2_supercat_256`). English, mostly.
    """

    distribution: ClassVar[str] = "wordllama"
    module: ClassVar[str] = "wordllama"

    @classmethod
    def files(cls) -> Sequence[Path]:
        """The token vectors and the tokenizer."""
        folder = _folder()
        return (
            folder / "weights" / "l2_supercat_256.safetensors",
            folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
        )

    @classmethod
    def vector(cls, text: str) -> Floats | None:
        """The embedding of `text`, a vector of length 1; None for an empty text or where it is not installed."""
        return None if cls.missing() else _vector(readable(text).strip())


@lru_cache(maxsize=REMEMBERED)
def _vector(text: str) -> Floats | None:
    if not text:
        return None
    vector: Floats = _model().embed([text], norm=True)[0].astype(float)
    vector.flags.writeable = False
    return vector


@lru_cache(maxsize=1)
def _model() -> Any:
    # Left to itself it downloads its tokenizer, although both files come with the package.
    return import_module("wordllama").WordLlama.load(cache_dir=_folder(), disable_download=True)


def _folder() -> Path:
    return Path(str(import_module("wordllama").__file__)).parent
