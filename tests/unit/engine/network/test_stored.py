from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file

from chaosgate.engine.network import stored
from chaosgate.errors import UsageError

SHAPES = {"one": (2, 3), "two": (1,)}
ARRAYS = {"one": np.arange(6, dtype=np.float32).reshape(2, 3) / 7, "two": np.float32([1e-3])}


def test_arrays_come_back_rounded_to_float16(tmp_path: Path) -> None:
    stored.write("some", ARRAYS, tmp_path / "new")
    read = stored.read("some", SHAPES, tmp_path / "new")
    assert read.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert read[name].dtype == np.float32
        assert_array_equal(read[name], array.astype(np.float16).astype(np.float32))


def test_the_same_arrays_are_the_same_file(tmp_path: Path) -> None:
    stored.write("one", ARRAYS, tmp_path)
    stored.write("two", dict(reversed(ARRAYS.items())), tmp_path)
    assert (tmp_path / "one.safetensors").read_bytes() == (tmp_path / "two.safetensors").read_bytes()


def test_a_header_is_written_as_given(tmp_path: Path) -> None:
    about = {"format": "pt", "writer": "some", "b": "ü", "a": '"'}
    path = tmp_path / "some.safetensors"
    path.write_bytes(stored.packed(ARRAYS, about))
    assert stored.about(path) == about
    assert path.read_bytes() == stored.packed(ARRAYS, dict(about))
    assert stored.packed(ARRAYS, about)[8:].startswith(b'{"__metadata__":{"format":"pt","writer":"some"')
    for name, array in load_file(path).items():
        assert_array_equal(array, ARRAYS[name].astype(np.float16))


def test_what_has_no_header_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "some"
    assert stored.about(path) == {}
    path.write_bytes(b"no such file")
    assert stored.about(path) == {}
    path.write_bytes(stored.packed(ARRAYS))
    assert stored.about(path) == {}


def test_anyone_may_read_the_file(tmp_path: Path) -> None:
    stored.write("some", ARRAYS, tmp_path)
    other = tmp_path / "other"
    other.touch()
    assert (tmp_path / "some.safetensors").stat().st_mode == other.stat().st_mode


def test_a_transposed_array_is_stored_as_it_reads(tmp_path: Path) -> None:
    stored.write("turned", {"one": ARRAYS["one"].T}, tmp_path)
    assert_array_equal(stored.read("turned", {"one": (3, 2)}, tmp_path)["one"], ARRAYS["one"].T.astype(np.float16))


def test_a_missing_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        stored.read("some", SHAPES, tmp_path)
    assert str(refused.value) == (
        f"cannot read the embedded model's weights from {tmp_path / 'some.safetensors'}: No such file or directory: "
        f"{tmp_path / 'some.safetensors'}; install the package again, or start the engine with --seed for untrained "
        "weights"
    )


@pytest.mark.parametrize("kept", [0, 5, 60, -1])
def test_a_damaged_file_is_refused(tmp_path: Path, kept: int) -> None:
    stored.write("some", ARRAYS, tmp_path)
    path = tmp_path / "some.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UsageError, match=re.escape(f"cannot read the embedded model's weights from {path}: ")):
        stored.read("some", SHAPES, tmp_path)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"one": ARRAYS["one"]}, "it lacks two"),
        ({**ARRAYS, "one": ARRAYS["one"].T}, "one has the shape (3, 2) in place of (2, 3)"),
        ({**ARRAYS, "three": ARRAYS["two"]}, "it holds three, which the model lacks"),
    ],
)
def test_a_file_of_other_arrays_is_refused(tmp_path: Path, arrays: dict[str, np.ndarray], said: str) -> None:
    path = tmp_path / "some.safetensors"
    stored.write("some", arrays, tmp_path)
    with pytest.raises(UsageError) as refused:
        stored.read("some", SHAPES, tmp_path)
    assert str(refused.value) == (
        f"cannot read the embedded model's weights from {path}: {said}; install the package again, or start the engine "
        "with --seed for untrained weights"
    )


def test_numbers_that_numpy_lacks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    header = json.dumps({"one": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(12))
    with pytest.raises(UsageError, match=re.escape(f"cannot read the embedded model's weights from {path}: ")):
        stored.read("some", {"one": (2, 3)}, tmp_path)


def test_the_digest_sees_names_shapes_and_bits() -> None:
    known = stored.digest(ARRAYS.items())
    renamed = [("uno", ARRAYS["one"]), ("two", ARRAYS["two"])]
    turned = [("one", ARRAYS["one"].reshape(3, 2)), ("two", ARRAYS["two"])]
    changed = [("one", np.nextafter(ARRAYS["one"], np.float32(9))), ("two", ARRAYS["two"])]
    assert len({known, *map(stored.digest, (renamed, turned, changed))}) == 4
    assert stored.digest({name: array.copy() for name, array in ARRAYS.items()}.items()) == known
