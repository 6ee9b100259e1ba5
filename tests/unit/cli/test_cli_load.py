"""The command `load`: what it sends, what it prints, how it ends."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from certificates import authority, server_context, signed_by
from click.testing import CliRunner
from load_target import Answer, Target, fails, loaded, tokens, whole

from chaosgate.artifacts import OBSERVATIONS, read_lines
from chaosgate.cli import load_server
from chaosgate.cli.load_report import LoadReport
from chaosgate.cli.load_tally import Tally
from chaosgate.cli.main import chaosgate
from chaosgate.judge import trust
from chaosgate.loadgen import saturation, summary
from chaosgate.model.observation import Observation


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes any client lag; what these tests are about is something else."""
    monkeypatch.setattr(summary, "MAX_SCHEDULE_DELAY", 60.0)
    monkeypatch.setattr(saturation, "MAX_SCHEDULE_DELAY", 60.0)


def invoke(*words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(chaosgate, ["load", *words], env=env)
    return done.exit_code, done.output


def report_of(url: str, *words: str) -> dict[str, Any]:
    code, said = invoke(url, "-o", "json", *words)
    report: dict[str, Any] = json.loads(said)
    assert report["exitCode"] == code
    return report


def test_a_load_ends_with_a_summary() -> None:
    with loaded(Target(tokens(3, gap=0.002))) as target:
        code, said = invoke(target.url, "--rate", "50/s", "--process", "constant", "--requests", "20")
    assert code == 0
    assert len(target.asked) == 20
    assert target.checked == 1
    assert {body["model"] for body in target.asked} == {"m"}
    assert "requests        20 in" in said
    assert "ok 20" in said
    assert re.search(r"^ttft +20 .* due to first content token", said, re.M)
    assert re.search(r"^itl +40 ", said, re.M)
    assert "schedule delay  p50" in said
    assert "ttft, 20 values" in said
    assert "█" in said


def test_the_json_has_everything_and_is_read_back() -> None:
    with loaded(Target(tokens(2))) as target:
        report = report_of(target.url + "/v1", "--concurrency", "3", "--requests", "12", "--max-tokens", "7")
    assert report.pop("schema") == "chaosgate/load-report.v1"
    read = LoadReport.model_validate(report)
    assert (read.url, read.model, read.ended) == (target.url, "m", "planned")
    assert read.summary is not None
    assert read.summary.requests == len(target.asked) == 12
    assert read.summary.output_tokens == 24
    assert read.summary.prompt_tokens == 60
    assert sum(one.count for one in read.histograms["ttft"]) == 12
    assert {body["max_tokens"] for body in target.asked} == {7}


def test_nothing_but_json_is_printed_then() -> None:
    with loaded(Target(tokens())) as target:
        code, said = invoke(target.url, "--requests", "3", "-o", "json", "--seed", "5")
    assert (code, json.loads(said)["workload"]["seed"]) == (0, 5)


def test_the_warm_up_is_sent_and_not_counted() -> None:
    with loaded(Target(tokens())) as target:
        words = ("--rate", "40/s", "--process", "constant", "--for", "1s", "--warmup", "500ms")
        report = report_of(target.url, *words)
    assert len(target.asked) == 40
    assert report["summary"]["requests"] == 20
    assert sum(one["count"] for one in report["histograms"]["ttft"]) == 20


def test_the_key_is_sent_and_never_shown() -> None:
    with loaded(Target(tokens(), key="sesame")) as target:
        code, said = invoke(target.url, "--requests", "2", "--api-key-env", "KEY", env={"KEY": "sesame"})
        assert (code, len(target.asked)) == (0, 2)
        assert "sesame" not in said
        code, said = invoke(target.url, "--requests", "2")
    assert code == 3
    assert said == (
        f"{target.url}: wants a key (HTTP 401); put it in an environment variable and name that with "
        "--api-key-env NAME\n"
    )


def test_several_workers_send_exactly_as_many() -> None:
    with loaded(Target(tokens())) as target:
        report = report_of(target.url, "--concurrency", "4", "--requests", "30", "--workers", "2")
    assert (report["summary"]["outcomes"]["ok"], len(target.asked)) == (30, 30)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_may_have_its_path(path: str) -> None:
    with loaded(Target(tokens())) as target:
        assert invoke(target.url + path, "--requests", "1")[0] == 0


@pytest.mark.parametrize(
    ("target", "words", "says"),
    [
        (Target(tokens(), models=("a", "b")), (), "serves 2 models (a, b); name one with --model"),
        (Target(tokens(), moved=True), (), "/v1/models: answered with a redirect (HTTP 302); name the server itself"),
        (Target(tokens(), models=None), (), "does not list its models; name one with --model"),
        (Target(whole()), (), "answered application/json and no stream, though `stream` was asked for"),
        (
            Target(fails(404, "The model `x` does not exist.")),
            ("--model", "x"),
            "does not serve the model 'x' (HTTP 404: The model `x` does not exist.); it serves: m",
        ),
        (
            Target(fails(404, "no such route"), models=None),
            ("--model", "m"),
            "there is nothing (HTTP 404: no such route)",
        ),
        (Target(fails(400, "stream_options?")), (), "refused a request (HTTP 400: stream_options?)"),
        (Target(fails(308, "elsewhere")), (), "answered with a redirect (HTTP 308); name the server itself"),
        (Target(tokens(first=5.0)), ("--timeout", "200ms"), "did not answer one request for one token within 0.2 s"),
    ],
)
def test_a_server_that_cannot_be_loaded_is_a_sentence(target: Target, words: tuple[str, ...], says: str) -> None:
    with loaded(target):
        code, said = invoke(target.url, *words)
    assert code == 3
    assert says in said
    assert len(said.splitlines()) == 1
    assert target.asked == []


def without_end() -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):
            while True:
                await response.write(b"data: " + b"x" * load_server.MOST_READ)
        return response

    return answer


def test_a_first_answer_without_end_is_read_so_far_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_server, "MOST_READ", 1 << 16)
    with loaded(Target(without_end())) as target:
        server = asyncio.run(load_server.find_server(target.url, None, {}, check=True, patience=300.0))
    assert (server.model, target.checked) == ("m", 1)


def test_a_list_of_models_too_deep_to_read_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deep(self: Target, request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"[" * 100_000)

    monkeypatch.setattr(Target, "list", deep)
    with loaded(Target(tokens())) as target:
        code, said = invoke(target.url)
    assert (code, len(said.splitlines())) == (3, 1)
    assert "does not list its models; name one with --model" in said


def test_a_server_s_model_writes_nothing_on_the_terminal() -> None:
    with loaded(Target(tokens(), models=("m\x1b[2J",))) as target:
        assert "\x1b" not in invoke(target.url, "--requests", "1")[1]


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_standard_file_ends_in_no_crash(closed: int) -> None:
    code = f"import os; os.close({closed}); from chaosgate.cli.main import main; main()"
    with loaded(Target(tokens())) as target:
        done = subprocess.run([sys.executable, "-c", code, "load", target.url, "--requests", "1"], check=False)
    assert done.returncode in (0, 3)  # 3: this machine was too slow to send in time


def test_a_server_that_is_not_there() -> None:
    code, said = invoke("http://127.0.0.1:9", "--model", "m")
    assert code == 3
    assert said.startswith("http://127.0.0.1:9: cannot be reached: ")
    assert said.endswith("is the server up, and is this its host and port?\n")


def test_a_certificate_that_nobody_knows(tmp_path: Path) -> None:
    own = signed_by(authority(tmp_path), tmp_path, "server")
    with loaded(Target(tokens()), tls=server_context(own)) as target:
        code, said = invoke(target.url)
        plain, said_plain = invoke(target.url.replace("https", "http"))
    assert code == plain == 3
    assert "TLS failed" in said
    assert "SSL_CERT_FILE" in said
    assert "is it https:// that is meant?" in said_plain or "no HTTP answer" in said_plain


def test_where_every_request_fails_the_errors_are_told_and_it_is_no_measurement() -> None:
    with loaded(Target(fails(429, "too many\nrequests"))) as target:
        report = report_of(target.url, "--requests", "4", "--rate", "100/s")
    (kind,) = report["errors"]
    assert (kind["outcome"], kind["status"], kind["count"]) == ("error", 429, 4)
    assert kind["why"] == "HTTP status 429: too many requests"
    assert kind["example"] == "1.load.0"
    assert report["summary"]["latencies"]["ttft"]["n"] == 0
    assert report["invalid"] == "none of 4 requests had a whole answer; what went wrong stands under errors"
    assert report["exitCode"] == 3


def test_a_server_that_answers_nothing_is_no_measurement() -> None:
    # No port that was free a moment ago: another test's server may have it by now.
    code, said = invoke("http://127.0.0.1:9", "--model", "m", "--no-check", "--requests", "3")
    assert code == 3
    assert "INVALID: the server answered no request at all; is it up?" in said
    assert re.search(r"^ +3  refused ", said, re.M)


def blocked(self: Tally, observation: Observation) -> None:
    time.sleep(0.08)
    kept(self, observation)


kept = Tally.add


@pytest.mark.thorough
def test_a_client_that_lags_says_so_and_blames_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MAX_SCHEDULE_DELAY", trust.MAX_SCHEDULE_DELAY)
    monkeypatch.setattr(Tally, "add", blocked)
    words = ("--rate", "50/s", "--requests", "30", "--slo", "ttft-p50<=1ms")
    with loaded(Target(tokens())) as target:
        code, said = invoke(target.url, *words)
    assert code == 3
    assert "INVALID: the client lagged behind its schedule" in said


SLOW: Answer = tokens(first=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slo", "code", "verdict"),
    [
        ("ttft-p50<=2s", 0, "kept"),
        ("ttft-p50<=20ms", 1, "missed"),
        ("ttft<=20ms", 1, "missed"),
        ("ttft<=2s", 0, "kept"),
        ("error-rate<=10%", 0, "kept"),
        ("ttft-p99<=2s", 3, "unclear"),
    ],
)
def test_an_slo_decides_the_exit_code(slo: str, code: int, verdict: str) -> None:
    with loaded(Target(SLOW)) as target:
        report = report_of(target.url, "--rate", "100/s", "--process", "constant", "--for", "1s", "--slo", slo)
    assert [one["verdict"] for one in report["slos"]] == [verdict]
    assert report["exitCode"] == code


def test_what_failed_keeps_no_bound_of_a_latency() -> None:
    with loaded(Target(fails(503, "busy"))) as target:
        report = report_of(target.url, "--rate", "100/s", "--for", "1s", "--slo", "ttft-p50<=10s", "--slo", "e2e<=10s")
    assert [one["verdict"] for one in report["slos"]] == ["missed", "missed"]


@pytest.mark.thorough
def test_a_stop_condition_ends_the_sending() -> None:
    with loaded(Target(fails(500, "no"))) as target:
        begun = time.monotonic()
        report = report_of(target.url, "--rate", "30/s", "--for", "60s", "--stop", "error-rate > 50 %")
    assert time.monotonic() - begun < 30
    assert (report["ended"], report["exitCode"]) == ("stopped", 1)
    assert report["whyEnded"].startswith("stop condition error-rate > 50 %")
    assert report["seconds"] < 30


@pytest.mark.thorough
def test_a_sweep_goes_up_until_a_rate_is_too_much() -> None:
    words = ("--sweep", "20/s..80/s", "--hold", "1s", "--slo", "ttft-p50<=300ms")
    with loaded(Target(tokens())) as target:
        report = report_of(target.url, *words)
        _, said = invoke(target.url, "--sweep", "20/s..30/s+10/s", "--hold", "1s")
    assert [step["rate"] for step in report["steps"]] == [20, 40, 80][: len(report["steps"])]
    assert report["summary"] is None
    assert "step 20/s: " in said
    assert re.search(r"highest rate held|no rate was held", said)


@pytest.mark.thorough
def test_a_sweep_stops_at_an_slo() -> None:
    with loaded(Target(tokens(first=0.1))) as target:
        report = report_of(target.url, "--sweep", "20/s..80/s", "--hold", "2s", "--slo", "ttft-p50<=20ms")
    assert [step["end"] for step in report["steps"]] == ["slo"]
    assert report["highestHeld"] is None


def test_what_the_client_breaks_off_is_no_failure() -> None:
    with loaded(Target(tokens(first=1.0))) as target:
        words = ("--rate", "40/s", "--requests", "20", "--cancel", "100%@50ms")
        report = report_of(target.url, *words)
    assert report["summary"]["outcomes"]["cancelled"] == 20
    assert (report["errors"], report["invalid"]) == ([], None)


def test_what_was_seen_is_kept(tmp_path: Path) -> None:
    with loaded(Target(tokens())) as target:
        code, _ = invoke(target.url, "--requests", "5", "--save", str(tmp_path / "kept" / "here"))
    seen = read_lines(tmp_path / "kept" / "here" / "observations.jsonl", OBSERVATIONS)
    report = json.loads((tmp_path / "kept" / "here" / "report.json").read_text())
    assert (code, len(seen), report["summary"]["requests"]) == (0, 5, 5)


def test_the_json_goes_to_a_file_beside_the_text(tmp_path: Path) -> None:
    with loaded(Target(tokens())) as target:
        code, said = invoke(target.url, "--requests", "5", "-O", str(tmp_path / "report.json"))
    assert (code, json.loads((tmp_path / "report.json").read_text())["url"]) == (0, target.url)
    assert "ttft" in said


@pytest.mark.parametrize(("tool", "path"), [("vllm", ("completed",)), ("guidellm", ("benchmarks", 0, "metrics"))])
def test_a_result_is_written_as_other_tools_do(tool: str, path: tuple[Any, ...], tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    with loaded(Target(tokens(3, gap=0.001))) as target:
        words = ("--concurrency", "2", "--requests", "6", "--slo", "ttft<=60s", "--export", tool, "-O", str(file))
        _, said = invoke(target.url, *words)
    found = json.loads(file.read_text())
    for key in path:
        found = found[key]
    assert found == 6 if tool == "vllm" else found["request_totals"]["successful"] == 6
    assert "ttft" in said


def test_adapters_of_the_only_model_leave_it_the_only_one() -> None:
    with loaded(Target(tokens(), models=("m",), adapters=("m:a", "m:b"))) as target:
        assert report_of(target.url, "--requests", "2")["model"] == "m"


def test_prompts_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"prompt": "one?"}\n{"prompt": "two?"}\n')
    with loaded(Target(tokens())) as target:
        assert invoke(target.url, "--concurrency", "1", "--requests", "3", "--prompts", str(file))[0] == 0
    assert [body["messages"][-1]["content"] for body in target.asked] == ["one?", "two?", "one?"]


def test_a_trace_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("at\n0\n0.1\n0.2\n0.3\n")
    with loaded(Target(tokens())) as target:
        report = report_of(target.url, "--trace", str(file), "--speed", "2", "--for", "1s")
    assert report["summary"]["requests"] == 4
    told = report["workload"]["arrivals"]
    assert told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "rows" not in told


def test_a_staircase_is_as_long_as_its_steps() -> None:
    with loaded(Target(tokens())) as target:
        words = ("--staircase", "10/s,30/s", "--hold", "500ms", "--process", "constant")
        report = report_of(target.url, *words)
    assert (report["seconds"], len(target.asked)) == (pytest.approx(1.0), 20)
