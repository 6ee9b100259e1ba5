"""The command `load`: requests to any server of OpenAI's API, and what their client saw."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.cli.options import output_option
from chaosgate.engine.options import OneLineErrors

if TYPE_CHECKING:
    from chaosgate.cli.load_options import LoadOptions

_FILE = click.Path(path_type=Path)
SPREADS = ("poisson", "constant", "gamma")
"""How the arrivals of a rate may be spread; other processes have options of their own."""
EXPORTS = ("vllm", "guidellm")


def load_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What the load is; the command gets it as one LoadOptions, `options`."""

    @wraps(command)
    def called(**given: Any) -> Any:
        from chaosgate.cli.load_options import LoadOptions

        return command(options=LoadOptions(**given))

    for option in reversed([*_WHOM, *_ARRIVALS, *_LENGTH, *_REQUESTS, *_JUDGING, *_RESULT]):
        called = option(called)
    return output_option(called)


_WHOM = (
    click.option("--model", metavar="NAME", help="Whom to ask.  [default: the only one that the server lists]"),
    click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the server's API key."),
    click.option("--check/--no-check", default=True, help="Ask for one token first, to see that the server answers."),
)
_ARRIVALS = (
    click.option("--rate", metavar="RATE", help="Requests a second, whatever the server does.  [default: 10/s]"),
    click.option("--concurrency", type=int, metavar="N", help="Requests in flight: the next one when one ends."),
    click.option(
        "--sweep", metavar="FROM..TO[+STEP]", help="Rates that double, or rise by STEP, until one is too much."
    ),
    click.option("--staircase", metavar="RATE,RATE,...", help="These rates, --hold each."),
    click.option("--trace", type=_FILE, metavar="FILE", help="The times of a recorded trace, CSV or JSON Lines."),
    click.option("--preset", metavar="NAME", help="A load of `chaosgate catalogue`'s life phases."),
    click.option("--process", type=click.Choice(SPREADS), help="How arrivals are spread.  [default: poisson]"),
    click.option("--burstiness", type=float, metavar="K", help="Shape of gamma gaps: 1 is poisson, less is burstier."),
    click.option(
        "--speed", type=float, default=1.0, metavar="X", help="How much faster than recorded a trace is sent."
    ),
)
_LENGTH = (
    click.option("--for", "length", metavar="TIME", help="How long requests are sent.  [default: 30s]"),
    click.option("--requests", type=click.IntRange(min=1), metavar="N", help="How many are sent, in place of a time."),
    click.option("--hold", metavar="TIME", default="10s", show_default=True, help="A step of a sweep or staircase."),
    click.option(
        "--warmup", metavar="TIME", default="0s", show_default=True, help="What is not counted, at the start."
    ),
)
_REQUESTS = (
    click.option("--prompts", metavar="SET|FILE", help="What is asked.  [default: recall-24]"),
    click.option("--max-tokens", type=int, metavar="N", help="Tokens of an answer, at most.  [default: 64]"),
    click.option("--timeout", metavar="TIME", default="60s", show_default=True, help="When a request is given up."),
    click.option("--cancel", metavar="SHARE@TIME", help="Requests that the client itself breaks off: 10%@500ms."),
    click.option("--seed", type=int, default=1, show_default=True, metavar="NUMBER", help="Fixes every draw."),
    click.option("--workers", type=int, default=1, show_default=True, metavar="N", help="Processes that send."),
)
_JUDGING = (
    click.option(
        "--slo",
        "slos",
        multiple=True,
        metavar="BOUND",
        help="What must hold, as often as you like: `ttft-p95<=300ms`, or of each request: `ttft<=300ms`.",
    ),
    click.option(
        "--good",
        metavar="SHARE",
        default="95 %",
        show_default=True,
        help="Requests that must keep the bounds on each of them.",
    ),
    click.option("--stop", "stops", multiple=True, metavar="BOUND", help="End early, such as at `error-rate > 50 %`."),
)
_RESULT = (
    click.option("--export", type=click.Choice(EXPORTS), help="Write the result as another tool does, to -O."),
    click.option("-O", "--output", "file", type=_FILE, metavar="FILE", help="Where --export, or else JSON, goes."),
    click.option("--save", type=_FILE, metavar="FOLDER", help="Keep every request there, and the report."),
    click.option("--live/--no-live", default=True, help="Draw the numbers on a terminal, or print lines."),
)


@click.command(cls=OneLineErrors)
@click.argument("url")
@load_options
def load(options: LoadOptions) -> None:
    """Send load to a server of OpenAI's API and say what its clients see.

    URL is the server, with or without /v1. Latencies count from when a request was due, so that a server that stalls
    cannot hide it. Ctrl-C ends the sending and waits for answers; a second one gives them up.

    \b
    chaosgate load http://127.0.0.1:8000 --rate 20/s --for 60s --slo "ttft-p95<=300ms"
    chaosgate load http://127.0.0.1:8000 --concurrency 32 --requests 1000
    chaosgate load http://127.0.0.1:8000 --sweep 5/s..80/s --slo "ttft<=300ms"

    Exit codes: 0 measured and every --slo kept, 1 an --slo missed or a --stop reached, 2 usage, 3 no measurement or
    one that cannot tell, 130 or 143 after a signal.
    """
    from chaosgate.cli.load_running import run

    run(options)
