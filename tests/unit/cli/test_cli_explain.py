"""explain: an experiment in plain words, and what each field means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from small_drill import write_spec

from chaosgate.cli import example
from chaosgate.cli.experiment import experiment_of
from chaosgate.cli.fields import ITEM, NAME, find_field, known_paths
from chaosgate.cli.main import chaosgate
from chaosgate.model.blocks import planned_length
from chaosgate.model.carrier import Carrier
from chaosgate.model.fault import FAULTS
from chaosgate.model.load import load_spec, parse_spec
from chaosgate.model.profile import read_profile
from chaosgate.model.schema import json_schema

ROOT = Path(__file__).parents[3]
SPECS = sorted(file for folder in ("atoms", "scenarios") for file in (ROOT / "chaos-specs" / folder).glob("*.yaml"))
QUICKSTART = ROOT / "chaos-specs" / "scenarios" / "stream-degradation.yaml"
CURE = ROOT / "chaos-specs" / "scenarios" / "injection-cured.yaml"


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, ["explain", *map(str, words)])


def said(*words: object) -> str:
    """What a command that goes well says, with its lines joined."""
    result = call(*words)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


# an experiment


@pytest.mark.parametrize("path", SPECS, ids=[path.stem for path in SPECS])
def test_every_shipped_spec_can_be_explained(path: Path) -> None:
    text = call(path)
    assert text.exit_code == 0, text.output
    assert max(map(len, text.stdout.splitlines())) <= 110
    told = json.loads(call(path, "-o", "json").stdout)
    assert told["spec"]["metadata"]["name"] == load_spec(path).metadata.name


def test_what_is_served_and_what_is_hit() -> None:
    text = said(QUICKSTART)
    assert "embedded/tiny by the embedded engine, which is started for this run and stopped with it." in text
    assert "The load: 20/s, poisson arrivals that wait for no answer, the prompts of recall-24" in text
    assert "slow-wire (wire.latency). A slow network: the request is delayed by `delay`" in text
    assert "in its gateway; no other client of the server is touched. May hit 100 % of the requests to /v1/chat" in text
    assert "180ms 4 8s 160 160" in text


def test_how_long_and_how_many_requests() -> None:
    text = said(QUICKSTART)
    assert "1m 36s of load with about 1,924 requests" in text
    assert "its deadlines end it after 13m 7s." in text
    assert "baseline warm-up 5s 100 requests never judged" in text
    assert "block1 controls 12s 240 requests" in text
    assert "block1 recovery 14.2s 284 requests" in text


def test_what_guards_it_and_who_shows_that_a_fault_bites(tmp_path: Path) -> None:
    text = said(CURE)
    assert "What guards it prompt-sanitiser: between the faults and the model. 30 % of the requests pass" in text
    assert "hijack has to be seen at 100 %, about 36 unguarded requests in 3 windows: enough." in text
    assert "exact-match >= 95 % at all doses of hijack, about 168 requests in 6 windows: enough" in text
    assert "What guards it" not in said(QUICKSTART)
    few = changed(tmp_path, ("unguarded: 30 %", "unguarded: 2 %"), of=CURE)
    assert "about 2 unguarded requests in 3 windows: ONLY WITH LUCK." in said(few)
    none = changed(tmp_path, ("unguarded: 30 %", "unguarded: 0 %"), of=CURE)
    assert "A fault whose whole effect they keep away is seen by nobody (see spec.unguarded)." in said(none)


def test_what_is_judged_and_what_makes_of_uncertainty() -> None:
    text = said(QUICKSTART)
    assert (
        "gate first-token: ttft-p95 <= 500ms at doses <= 180ms of slow-wire, about 320 requests in 8 windows: enough; "
        "a P95 needs 72 requests; these tell as much as 254 independent ones" in text
    )
    assert "warn headroom: lower end of knee >= 180ms over the doses of slow-wire" in text
    assert (
        "An interval across its bound makes the verdict inconclusive, exit code 3 (gate.onUncertain: inconclusive)."
        in text
    )


def test_who_ends_it_who_cleans_up_and_where_it_is_recorded() -> None:
    text = said(QUICKSTART)
    assert "error-rate > 50 % in 3 one-second samples in a row." in text
    assert "the gateway ends it 5 s after its injector last renewed it" in text
    assert "At the latest everything is gone 15m 7s after the start" in text
    assert "MLflow experiment chaosgate/quickstart at $MLFLOW_TRACKING_URI, else mlflow.db" in text


def changed(tmp_path: Path, *pairs: tuple[str, str], of: Path | None = None) -> Path:
    file = write_spec(tmp_path)
    text = (of or file).read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    return file


def test_an_objective_that_can_never_pass_is_shouted(tmp_path: Path) -> None:
    file = changed(tmp_path, ('sli: error-rate, bound: "<= 50 %"', 'sli: ttft-p99, bound: "<= 1s"'))
    assert "about 48 requests in 3 windows: NEVER; a P99 needs 368 requests." in said(file)


def test_a_fault_out_of_reach_is_said_to_touch_nothing() -> None:
    text = said(ROOT / "chaos-specs" / "scenarios" / "fault-out-of-reach.yaml")
    assert "No request of the workload goes there: it will touch nothing, and then the run can never pass." in text
    assert "200ms 3 2.1s 84 0" in text


def test_a_part_of_the_requests_is_counted_as_such(tmp_path: Path) -> None:
    file = changed(tmp_path, ("select: {path: /v1/chat/completions}", "select: {share: 25 %}"))
    text = said(file)
    assert "May hit 25 % of the requests." in text
    assert "100ms 3 1.2s 48 12" in text


def test_a_server_of_ones_own_is_shared(tmp_path: Path) -> None:
    file = write_spec(tmp_path, target="{engine: endpoint, model: m, endpoint: 'http://10.0.0.7:8000'}")
    assert "m by the server at http://10.0.0.7:8000, which runs already: its other clients share it" in said(file)


def test_what_no_spec_says_is_said_as_such(tmp_path: Path) -> None:
    file = changed(tmp_path, ('safety: {stopWhen: [{sli: error-rate, bound: "> 50 %", consecutive: 2}]}', "safety: {}"))
    assert "No condition of its own (safety.stopWhen). By hand: `chaosgate abort RUN`" in said(file)


@pytest.mark.parametrize(("word", "text"), [("fail", "fail, exit code 1"), ("warn", "warn, exit code 0")])
def test_the_gates_answer_to_uncertainty(tmp_path: Path, word: str, text: str) -> None:
    file = changed(tmp_path, ("  safety:", f"  gate: {{onUncertain: {word}}}\n  safety:"))
    assert f"An interval across its bound makes the verdict {text} (gate.onUncertain: {word})." in said(file)


def test_control_characters_of_a_spec_do_not_reach_a_reviewers_terminal(tmp_path: Path) -> None:
    file = changed(tmp_path, ("{name: small-drill}", '{name: small-drill, annotations: {proves: "a\\e[2Jb"}}'))
    text = call(file).stdout
    assert "\x1b" not in text
    assert "to show that a\ufffd[2Jb" in text


def test_settings_change_what_is_explained() -> None:
    assert "The load: 10/s" in said(QUICKSTART, "--set", "rate=10/s")


def test_stretches_add_up_to_the_planned_length() -> None:
    for path in SPECS:
        spec = load_spec(path)
        found = experiment_of(spec, Carrier())
        assert sum(stretch.seconds for stretch in found.stretches) == pytest.approx(planned_length(spec))
        assert sum(stretch.requests for stretch in found.stretches) == pytest.approx(found.requests)


def test_json_of_an_experiment_has_numbers() -> None:
    told = json.loads(call(QUICKSTART, "-o", "json").stdout)
    assert told["load"] == pytest.approx(96.2)
    assert told["hits"][0]["doses"][1] == {
        "dose": 0.18,
        "windows": 4,
        "seconds": 8.0,
        "requests": 160.0,
        "selected": 160.0,
    }
    assert [one["objective"] for one in told["outlooks"]][-4:] == ["same-answers", "right-answers", "back", "headroom"]
    assert told["swept"] == told["longest"] + 120


@pytest.mark.parametrize("what", ["none.yaml", "folder/", "./none", "none.json"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(what)
    assert result.exit_code == 2
    assert "cannot be read: No such file or directory; name a YAML file that holds a chaos spec" in result.stderr


def test_a_broken_spec_is_refused_with_its_places(tmp_path: Path) -> None:
    file = changed(tmp_path, ("kind: wire.latency", "kind: wire.latencie"))
    result = call(file)
    assert result.exit_code == 2
    assert result.stderr.endswith("unknown fault kind 'wire.latencie'; did you mean 'wire.latency'?\n")


# fields


def test_the_examples_are_valid(tmp_path: Path) -> None:
    parse_spec(example.SPEC, "example")
    file = tmp_path / "profile.yaml"
    file.write_text(example.PROFILE)
    assert read_profile(file).problems == ()


def test_an_item_of_a_list_is_what_the_list_holds() -> None:
    (delay,) = find_field("spec.faults[wire.latency].dose.values[]").forms
    assert delay.type == "a duration such as 250ms, 2s or 5m (us, ms, s, m, h)"
    assert (delay.needed, delay.default, delay.keys) == (False, None, ())
    assert delay.description.startswith("The doses, in the unit of the parameter.")
    types = {kind: form.type for form in find_field("spec.faults[].dose.values[]").forms for kind in form.kinds}
    assert types["wire.latency"] == delay.type
    assert types["wire.error"] == "a share such as 5 %"


def test_a_value_of_a_mapping_is_what_the_mapping_holds() -> None:
    (label,) = find_field("metadata.labels.suite").forms
    assert (label.type, label.needed, label.default) == ("text", False, None)
    assert label.description.startswith("Words by which specs are grouped")


@pytest.mark.parametrize("path", known_paths())
def test_every_field_is_documented(path: str) -> None:
    field = find_field(path)
    described = all(form.description for form in field.forms)
    assert described or path.endswith(NAME), path
    assert all(form.type for form in field.forms)
    assert call(path).exit_code == 0
    assert json.loads(call(path, "-o", "json").stdout)["path"] == path


def schema_paths(node: Any, definitions: dict[str, Any], prefix: str = "", depth: int = 0) -> set[str]:
    """Every path the JSON Schema knows, in the notation of `explain`."""
    found: set[str] = set()
    if not isinstance(node, dict) or depth > 20:
        return found
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        return schema_paths(definitions[name], definitions, prefix, depth + 1)
    for key, value in node.get("properties", {}).items():
        path = f"{prefix}.{key}".lstrip(".")
        found |= {path} | schema_paths(value, definitions, path, depth + 1)
    for entry in (node.get("additionalProperties"), *node.get("patternProperties", {}).values()):
        if isinstance(entry, dict):
            path = f"{prefix}.{NAME}"
            found |= {path} | schema_paths(entry, definitions, path, depth + 1)
    if node.get("items"):
        found |= {prefix + ITEM} | schema_paths(node["items"], definitions, prefix + ITEM, depth + 1)
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        found |= schema_paths(branch, definitions, prefix, depth + 1)
    return found


def test_explain_knows_what_the_schema_knows() -> None:
    schema = json_schema()
    own = {path for path in known_paths() if not path.startswith("spec.carrier")}
    assert own == schema_paths(schema, schema["$defs"])


def test_a_mapping_lists_its_keys() -> None:
    text = call("spec.workload.arrivals").stdout
    assert "  type     mapping\n" in text
    assert "When requests are sent; needed without `tenants`." in text
    assert "    process*      choice: `poisson`, `constant`: One rate all the time: an open loop" in text
    assert "    concurrency*  whole number: Requests in flight at any time. With closed." in text
    assert text.endswith('EXAMPLE\n  arrivals: {process: poisson, rate: "{{ parameters.rate }}"}\n')


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("spec.steadyState.windows", ["type     a whole number", "default  3", "allowed  at least 3, at most 64"]),
        ("spec.workload.warmup", ["type     a duration such as 250ms", "default  5s"]),
        ("spec.workload.timeout", ["default  30s", "allowed  more than 0s"]),
        ("spec.gate.onUncertain", ["type     choice", "default  inconclusive", "allowed  inconclusive, fail, warn"]),
        ("spec.objectives[].bound", ['type     a bound in quotes such as "<= 300ms"']),
        ("spec.faults[].select.share", ["default  100 %"]),
        ("spec.target.endpoint", ["allowed  an http:// or https:// URL"]),
        ("spec.faults[0].dose.values", ["list, each a share such as 5 %", "list, each a duration such as 250ms"]),
        ("spec.faults[wire.error].status", ["default  503", "allowed  429, 500, 502, 503, 504"]),
        ("spec.carrier.image", ["spec.carrier.image  (of a ChaosProfile)", "default  chaosgate:"]),
        ("metadata.labels.suite", ["type     text"]),
    ],
)
def test_a_field_says_type_default_and_limits(path: str, lines: list[str]) -> None:
    text = call(path).stdout
    assert [line for line in lines if line not in text] == []


def test_a_field_that_differs_between_kinds_says_for_which() -> None:
    text = call("spec.faults[].dose.values").stdout
    told = [set(line[4:].split(", ")) for line in text.splitlines() if line.startswith("for ")]
    of_kind = {kind: kinds for kinds in told for kind in kinds}
    assert sorted(of_kind) == FAULTS.names()
    assert {"kv.token-overwrite", "pod.cpu-limit", "stream.cut"} < of_kind["wire.error"]
    assert {"wire.jitter", "wire.timeout"} < of_kind["wire.latency"]
    assert of_kind["wire.latency"].isdisjoint(of_kind["wire.error"])
    one = find_field("spec.faults[wire.latency].dose.values")
    assert len(one.forms) == 1


def test_the_kinds_of_a_list_are_its_choices() -> None:
    (form,) = find_field("spec.faults[].kind").forms
    assert list(form.allowed) == FAULTS.names()
    (item,) = find_field("spec.faults[]").forms
    assert list(item.allowed) == FAULTS.names()
    assert [key.name for key in item.keys] == ["name", "kind", "dose"]


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("spec.workload.arivals", "spec.workload.arrivals"),
        ("spec.workloads.arrivals.rate", "spec.workload.arrivals.rate"),
        ("workload.arrivals", "spec.workload.arrivals"),
        ("spec.metadata.name", "metadata.name"),
        ("spec.faults.dose", "spec.faults[].dose"),
        ("spec.faults.0.dose", "spec.faults[].dose"),
        ("spec.faults[wire.eror].status", "spec.faults[].status"),
        ("spec.workload[]", "spec.workload"),
        ("spec.breakers[]", "spec.breakers"),
        ("maxTokens", "spec.workload.maxTokens"),
        ("spec.carier.image", "spec.carrier.image"),
        ("spec[", "spec"),
    ],
)
def test_a_mistake_ends_in_the_nearest_path(path: str, near: str) -> None:
    result = call(path)
    assert (result.exit_code, result.stderr) == (2, f"unknown field {path!r}; did you mean {near!r}?\n")


def test_what_changes_a_spec_does_not_go_with_a_field() -> None:
    result = call("spec.workload", "--set", "rate=1/s")
    assert (result.exit_code, result.stderr) == (
        2,
        "spec.workload: is no file; --set, --values and --profile go with a spec's file\n",
    )


@pytest.mark.parametrize("what", ["x", "..", "", "[]", "$$$"])
def test_what_is_near_nothing_says_how_fields_begin(what: str) -> None:
    result = call(what)
    assert result.exit_code == 2
    assert result.stderr == (
        f"unknown field {what!r}, and no spec's file; fields begin with apiVersion, kind, metadata, spec\n"
    )


@given(st.text(st.sampled_from("abspecfaultworkdo.[]0N"), max_size=40))
def test_no_path_at_all_is_a_crash(path: str) -> None:
    said = call("--", path)
    assert said.exit_code == 0 or said.stderr.startswith(f"unknown field {path!r}"), said.output
