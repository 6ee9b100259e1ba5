from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click
import pytest

from chaosgate.deploy.processes import GRACE
from chaosgate.engine.options import ENGINE_OPTIONS, GRACE_SECONDS, OneLineErrors, ServerOptions, server_options
from chaosgate.engine.runtime.config import EngineConfig
from chaosgate.engine.serving import SHUTDOWN_SECONDS
from chaosgate.errors import UsageError

given: list[ServerOptions] = []


@click.command("engine", cls=OneLineErrors)
@server_options
def command(options: ServerOptions) -> None:
    given.append(options)


def read(*words: str) -> ServerOptions:
    command.main(list(words), prog_name="engine", standalone_mode=False)
    return given.pop()


def test_without_words_it_is_the_shipped_model_on_the_loopback_interface() -> None:
    assert read() == ServerOptions("127.0.0.1", 8000, EngineConfig(), GRACE_SECONDS, None, None, None)


def test_every_field_of_the_engine_s_configuration_is_an_option() -> None:
    assert list(ENGINE_OPTIONS) == [field.name for field in fields(EngineConfig)]
    words = ["--model", "m", "--seed", "3", "--num-blocks", "9", "--block-size", "8", "--max-num-seqs", "2"]
    more = ["--max-waiting", "5", "--max-num-batched-tokens", "7", "--no-enable-prefix-caching"]
    read_back = read(*words, *more, "--response-cache", "prompt, adapter").config
    assert read_back == EngineConfig("m", 3, 9, 8, 2, 5, 7, False, ("prompt", "adapter"))


def test_the_server_s_own_options() -> None:
    files = ["--faults", "f.json", "--ready-file", "r.json"]
    options = read("--host", "::1", "--port", "0", "--grace", "0", "--lifetime", "1.5", *files)
    assert options == ServerOptions("::1", 0, EngineConfig(), 0.0, Path("f.json"), Path("r.json"), 1.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "-1"], "Invalid value for '--seed': -1 is not in the range x>=0; see engine --help"),
        (["--port", "x"], "Invalid value for '--port': 'x' is not a valid integer; see engine --help"),
        (
            ["--lifetime", "0"],
            "Invalid value for '--lifetime': a lifetime is a number of seconds above 0, got '0'; see engine --help",
        ),
        (["--ready-fil", "x"], "No such option '--ready-fil'. Did you mean '--ready-file'?; see engine --help"),
        (["chat"], "Got unexpected extra argument (chat); see engine --help"),
        (["--block-size", "7"], "block_size is one of 8, 16, 32, 64 and 128, got 7"),
        (["--response-cache", "promt"], "response_cache: unknown field 'promt'; did you mean 'prompt'?"),
    ],
)
def test_a_wrong_word_is_one_sentence(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(*words)
    assert str(caught.value) == message


def test_a_run_s_cleanup_does_not_kill_an_engine_that_still_drains() -> None:
    assert GRACE_SECONDS + SHUTDOWN_SECONDS < GRACE
