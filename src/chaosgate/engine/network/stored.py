"""Arrays that come with the package, in files of the safetensors format.

The format is read and written by its own small library: the same code writes the export that other engines load.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save

from chaosgate.errors import UsageError

Array = NDArray[np.float32]
Ints = NDArray[np.int64]
Shape = tuple[int, ...]

DATA: Final = Path(__file__).parents[1] / "data"
"""Where the weights, the adapters and the model card lie."""


def read(name: str, shapes: Mapping[str, Shape], folder: Path = DATA) -> dict[str, Array]:
    """The arrays of `<name>.safetensors` as float32.

    UsageError where the file is missing or damaged, or holds other arrays than those of `shapes`.
    """
    path = folder / f"{name}.safetensors"
    try:
        arrays = {key: np.asarray(array, np.float32) for key, array in load_file(path).items()}
        _check(arrays, shapes)
        return arrays
    # A kind of number that numpy lacks is a TypeError.
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise UsageError(
            f"cannot read the embedded model's weights from {path}: {error}; "
            "install the package again, or start the engine with --seed for untrained weights"
        ) from error


def _check(arrays: Mapping[str, Array], shapes: Mapping[str, Shape]) -> None:
    """ValueError names the first array that is missing, that has another shape, or that nobody asked for."""
    for name, shape in shapes.items():
        if name not in arrays:
            raise ValueError(f"it lacks {name}")
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has the shape {arrays[name].shape} in place of {shape}")
    if more := sorted(arrays.keys() - shapes.keys()):
        raise ValueError(f"it holds {more[0]}, which the model lacks")


def about(path: Path) -> dict[str, str]:
    """What the header of a file says beside its arrays; nothing where `path` is no such file."""
    try:
        with safe_open(path, "numpy") as file:
            return dict(file.metadata() or {})
    except (OSError, SafetensorError):
        return {}


def write(name: str, arrays: Mapping[str, Array], folder: Path = DATA) -> None:
    """Stores `arrays` as float16. The same arrays give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.safetensors").write_bytes(packed(arrays))


def packed(arrays: Mapping[str, Array], about: Mapping[str, str] | None = None) -> bytes:
    """A file of `arrays` in float16, with `about` in its header. The same arrays give the same bytes."""
    # Not the library's own writing to a path: it leaves a file that only its owner can read.
    data = save({key: np.ascontiguousarray(array, np.float16) for key, array in arrays.items()})
    return _with_header(data, about) if about else data


def _with_header(data: bytes, about: Mapping[str, str]) -> bytes:
    """A file of the format with `about` put in: the length of the header, the header as JSON, the arrays.

    The library would write several entries in another order each time.
    """
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps({"__metadata__": dict(about), **json.loads(data[8:end])}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[end:]


def digest(named: Iterable[tuple[str, Array]]) -> str:
    """`sha256:<hex>` over names, shapes and little-endian float32 bytes: equal arrays, equal digest."""
    state = hashlib.sha256()
    for name, array in named:
        state.update(f"{name} {array.shape}\n".encode())
        state.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
    return f"sha256:{state.hexdigest()}"
