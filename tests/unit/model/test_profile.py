"""Profiles: what they change, what they leave alone, and where each mistake is said to stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chaosgate.errors import SpecError
from chaosgate.model.carrier import Carrier
from chaosgate.model.load import Resolved, resolve
from chaosgate.model.profile import OVERRIDES, Profile, profile_of, read_profile
from chaosgate.model.source import PROFILE, parse_source, read_source
from chaosgate.model.spec import SpecBody

HERE = Path(__file__).parent
BASE = (HERE / "base_profile.yaml").read_text()
SPEC_TEXT = (HERE / "base_spec.yaml").read_text()
SPEC = parse_source(SPEC_TEXT, "spec.yaml")
REFUSALS: list[dict[str, Any]] = yaml.safe_load((HERE / "profile_refusals.yaml").read_text())
SHIPPED = sorted((HERE.parents[2] / "chaos-specs" / "profiles").glob("*.yaml"))
SCENARIOS = sorted((HERE.parents[2] / "chaos-specs" / "scenarios").glob("*.yaml"))
HEAD = "apiVersion: chaosgate/v1\nkind: ChaosProfile\nmetadata: {name: p}\nspec:\n"


def profile(text: str) -> Profile:
    return profile_of(parse_source(text, "profile.yaml", PROFILE))


def laid(body: str, spec: str = SPEC_TEXT) -> Resolved:
    return resolve(parse_source(spec, "spec.yaml"), profile=profile(HEAD + body))


def changed(body: str, spec: str = SPEC_TEXT) -> SpecBody:
    return laid(body, spec).spec.spec


def refusal(text: str, spec: str = SPEC_TEXT) -> list[str]:
    with pytest.raises(SpecError) as refused:
        resolve(parse_source(spec, "spec.yaml"), profile=profile(text))
    return str(refused.value).split("\n")


# what is refused


@pytest.mark.parametrize("case", REFUSALS, ids=[case["mistake"] for case in REFUSALS])
def test_a_mistake_is_answered_in_these_words(case: dict[str, Any]) -> None:
    assert case["replace"] in BASE
    assert refusal(BASE.replace(case["replace"], case["by"], 1)) == case["says"]


@pytest.mark.parametrize("case", REFUSALS, ids=[case["mistake"] for case in REFUSALS])
def test_what_is_wrong_in_itself_is_found_without_a_spec(case: dict[str, Any]) -> None:
    try:
        problems = profile(BASE.replace(case["replace"], case["by"], 1)).problems
    except SpecError as refused:
        problems = refused.problems
    ordered = sorted(problems, key=lambda one: (one.line, one.column))
    assert [one.render("?") for one in ordered] == ([] if case.get("beside") else case["says"])


def test_mistakes_in_both_files_are_said_at_once_that_of_the_spec_first() -> None:
    says = refusal(BASE.replace("10m", "10"), SPEC_TEXT.replace("seed: 7", "sed: 7").replace("warmup: 1s", "warmup: 1"))
    assert says == [
        "spec.yaml:10:13 spec.workload.warmup: read 1 without a unit; "
        "write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)",
        "spec.yaml:11:5 spec.workload.sed: unknown key 'sed'; did you mean 'seed'? "
        "allowed: arrivals, cancel, maxTokens, preset, prompts, seed, spikes, tenants, "
        "timeout, warmup, workers",
        "profile.yaml:8:17 spec.safety.sweepAfter: read 10 without a unit; "
        "write a duration such as 250ms, 2s or 5m (us, ms, s, m, h)",
    ]


def test_a_key_that_is_missing_in_both_is_missing_in_the_spec() -> None:
    says = refusal(HEAD + "  target: {replicas: 2}\n", SPEC_TEXT.replace(", model: embedded/tiny", ""))
    assert says == ["spec.yaml:5:11 spec.target.model: is missing; write text"]


def test_a_section_that_only_the_profile_has_lacks_its_keys_there() -> None:
    says = refusal(HEAD + "  target: {replicas: 2, model: null}\n", SPEC_TEXT.replace("  target:", "  #target:"))
    assert says == [
        "profile.yaml:5:11 spec.target.engine: is missing; write 'embedded', 'vllm' or 'endpoint'",
        "profile.yaml:5:32 spec.target.model: is missing; write text",
    ]


def test_what_a_profile_replaces_hides_what_stood_below_it() -> None:
    spec = SPEC_TEXT.replace('bound: "> 50 %"}', 'bound: "> 50 %", consecutive: 5}, {sli: ttft-p95, bound: "> 2s"}')
    assert refusal(HEAD + "  safety: {stopWhen: [{bound: '> 5 %'}]}\n", spec) == [
        "profile.yaml:5:23 spec.safety.stopWhen[0].sli: is missing; write text"
    ]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("ChaosSpec", "read 'ChaosSpec'; a profile says `kind: ChaosProfile` and holds what differs from a spec"),
        ("Deployment", "unknown kind 'Deployment'; known: ChaosProfile, ChaosSpec"),
    ],
)
def test_a_document_of_another_kind_is_no_profile(kind: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        profile(BASE.replace("ChaosProfile", kind))
    assert str(refused.value) == f"profile.yaml:2:7 kind: {says}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BASE, "read 'ChaosProfile'; a profile goes with a spec: name the spec here, and this file with --profile"),
        (SPEC_TEXT.replace("ChaosSpec", "Workflow"), "unknown kind 'Workflow'; known: ChaosProfile, ChaosSpec"),
        (SPEC_TEXT.replace("ChaosSpec", "ChaosSpecs"), "read 'ChaosSpecs'; write 'ChaosSpec'"),
    ],
)
def test_a_document_of_another_kind_is_no_spec(text: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        resolve(parse_source(text, "spec.yaml"))
    assert str(refused.value) == f"spec.yaml:2:7 kind: {says}"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, " (document): cannot be read: No such file or directory; name a YAML file that holds a chaos profile"),
        ("", " (document): is empty; a profile starts with `apiVersion: chaosgate/v1` and `kind: ChaosProfile`"),
        ("[]", ":1:1 (document): read a list; a profile is a mapping that starts with `apiVersion:`"),
        ("a: 1\n---\n", ":2:1 (document): read a second document; a file holds one profile: split it at `---`"),
    ],
)
def test_what_is_no_profile_is_named(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / "profile.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SpecError) as refused:
        raise SpecError(str(path), read_profile(path).problems)
    assert f"{path}{says}" in str(refused.value).split("\n")


# what is changed


def test_a_profile_changes_its_keys_and_leaves_the_others() -> None:
    plain = resolve(SPEC).spec.spec
    found = changed("  target: {model: other}\n  safety: {sweepAfter: 10m}\n  tracking: {uri: 'http://mlflow:5000'}\n")
    assert (found.target.model, found.target.engine) == ("other", plain.target.engine)
    assert (found.safety.sweep_after, found.safety.stop_when) == (600, plain.safety.stop_when)
    assert (found.tracking.uri, found.tracking.experiment) == ("http://mlflow:5000", plain.tracking.experiment)
    rest = SpecBody.model_fields.keys() - OVERRIDES.keys()
    assert all(getattr(found, name) == getattr(plain, name) for name in rest)


def test_a_key_set_to_null_is_removed() -> None:
    assert changed("  safety: {stopWhen: null}\n").safety.stop_when == ()
    spec = SPEC_TEXT.replace("{engine: embedded,", '{engine: endpoint, endpoint: "http://a:1",')
    assert changed("  target: {engine: embedded, endpoint: null}\n", spec).target.endpoint is None


def test_a_mapping_with_several_forms_and_a_list_are_replaced_as_a_whole() -> None:
    spec = SPEC_TEXT.replace("{engine: embedded,", "{engine: embedded, fallback: {canned: sorry},")
    found = changed("  target: {fallback: {upstream: 'http://b:2'}}\n  safety: {stopWhen: []}\n", spec)
    assert found.target.to_json()["fallback"] == {"upstream": "http://b:2"}
    assert found.safety.stop_when == ()


def test_a_parameter_is_used_though_the_profile_replaces_its_place() -> None:
    spec = SPEC_TEXT.replace("spec:\n", "spec:\n  parameters: {model: {type: string, default: a}}\n", 1)
    spec = spec.replace("model: embedded/tiny", 'model: "{{ parameters.model }}"')
    assert changed("  target: {replicas: 2}\n", spec).target.model == "a"
    assert changed("  target: {model: b}\n", spec).target.model == "b"


def test_where_it_is_recorded_and_served_does_not_change_the_digest() -> None:
    elsewhere = laid("  target: {engine: endpoint, endpoint: 'http://a:1', model: m}\n  tracking: {experiment: e}\n")
    assert elsewhere.spec.digest() == resolve(SPEC).spec.digest()


def test_the_carrier_is_read_or_has_its_defaults() -> None:
    found = profile(BASE).carrier
    assert (found.image, found.service_account) == ("registry.example/chaosgate:1.2.3", "drills")
    assert found.resources["measure"].memory == "1Gi"
    assert profile(HEAD + "  tracking: {}\n").carrier == Carrier()


def key_of(section: str) -> st.SearchStrategy[str]:
    return st.sampled_from(sorted(field.alias or name for name, field in OVERRIDES[section].model_fields.items()))


@given(st.data())
def test_any_value_at_any_key_gives_a_spec_or_refusals_with_their_places(data: st.DataObject) -> None:
    section = data.draw(st.sampled_from(sorted(OVERRIDES)))
    value = data.draw(st.none() | st.booleans() | st.integers(-2, 70) | st.sampled_from(["1s", "http://a:1", "{{", []]))
    body = json.dumps({data.draw(key_of(section)): value})
    try:
        spec, problems = laid(f"  {section}: {body}\n").spec, ()
    except SpecError as refused:
        spec, problems = None, refused.problems
    assert spec or problems
    assert all(one.file == "profile.yaml" and one.line == 5 and one.column > 5 for one in problems)


# what is shipped


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_every_shipped_profile_goes_with_every_scenario(path: Path) -> None:
    shipped = read_profile(path)
    assert shipped.problems == ()
    assert shipped.name == path.stem
    for scenario in SCENARIOS:
        assert resolve(read_source(scenario), profile=shipped).spec


def test_there_are_profiles_and_scenarios_to_check() -> None:
    assert {path.stem for path in SHIPPED} == {"cluster", "served", "staging"}
    assert len(SCENARIOS) >= 3
