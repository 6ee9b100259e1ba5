"""The catalogue: the table, each kind in depth, its examples, and the generated pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from click.testing import CliRunner, Result

from chaosgate.cli.example import SPEC as EXAMPLE
from chaosgate.cli.generate import generated
from chaosgate.cli.kind_pages import FOLDER, GENERATED, anchor, catalogue_pages
from chaosgate.cli.kinds import ATOMS, all_kinds, find_page, page_of
from chaosgate.cli.main import chaosgate
from chaosgate.components.definition import COMPONENTS, Component, ports
from chaosgate.errors import UsageError
from chaosgate.model.fault import FAULTS, ClusterFault, EngineFault, Fault
from chaosgate.model.load import parse_spec
from chaosgate.model.sli import SLIS, Sli
from chaosgate.planner import plan_problems
from chaosgate.prompts.sets import prompt_sets

ROOT = Path(__file__).parents[3]
KINDS = [(sort, name) for sort, names in all_kinds().items() for name in names]
PAGES = catalogue_pages(ROOT)


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, ["catalogue", *map(str, words)])


# the table


def test_the_table_has_a_line_for_every_kind() -> None:
    said = call()
    assert said.exit_code == 0
    # What is folded goes on in a line that begins with blanks.
    lines = [line.split() for line in said.stdout.splitlines() if not line.startswith(" ")]
    assert lines[0] == ["sort", "kind", "on", "or", "in", "what", "status"]
    assert [(line[0], line[1]) for line in lines[1:] if len(line) > 2 and line[0] != "one"] == KINDS
    assert said.stdout.splitlines()[-1] == "one in depth: chaosgate catalogue KIND"


def test_the_table_as_json() -> None:
    rows = json.loads(call("-o", "json").stdout)
    assert [(row["sort"], row["name"]) for row in rows] == KINDS
    latency = next(row for row in rows if row["name"] == "wire.latency")
    assert (latency["about"], latency["status"]) == ("wire", "built-in")
    assert latency["summary"].startswith("A slow network: ")


# one kind


@pytest.mark.parametrize(("sort", "name"), KINDS)
def test_every_kind_has_a_page_that_says_something(sort: str, name: str) -> None:
    page = page_of(sort, name)
    assert page.summary
    assert page.facts
    assert all(text for _, text in page.facts)
    said = call(name)
    assert said.exit_code == 0, said.output
    assert said.stdout.startswith(f"{name}  ({sort}, built-in)\n")
    assert json.loads(call(name, "-o", "json").stdout)["name"] == name


def test_a_fault_in_depth() -> None:
    said = call("wire.error").stdout
    assert (
        "acts on  the run's own requests and answers, in its gateway; no other client of the server is touched" in said
    )
    assert "dose     `probability`: a share such as 5 %; more than 0, at most 100 %" in said
    assert "goes     expires: the gateway ends it 5 s after its injector last renewed it, whoever else is gone" in said
    assert "witness  share of responses with status 503. The client sees the status;" in said
    assert "  status: choice (429, 500, 502, 503, 504), default 503\n    The HTTP status of the answer." in said
    assert "  retryAfter: a duration such as 250ms" in said
    assert "  - name: refusals\n    kind: wire.error\n" in said
    assert said.endswith("tested by  tests/unit/faults/wire/test_error.py\n")


def test_an_sli_in_depth() -> None:
    said = call("ttft").stdout
    assert "unit          a duration such as 250ms" in said
    assert "statistic     a distribution: name a percentile, such as ttft-p95" in said
    assert "of a request  Seconds; None unless the answer is whole and has a token." in said
    assert "if it failed  it counts as infinitely slow" in said


def test_an_sli_that_compares_says_with_what() -> None:
    assert "compares with  the prompt's first answer in the baseline" in call("exact-match").stdout
    assert "compares with" not in call("error-rate").stdout


def test_a_filter_in_depth() -> None:
    said = call("output-validator").stdout
    assert said.startswith("output-validator  (filter, built-in)\n")
    assert "of an answer   None for an answer that is valid, else what `on_invalid` says." in said
    assert "example (spec.filters)\n  - {kind: output-validator, onInvalid: repair}\n" in said
    assert [find_page(name).about for name in ("byte-limit", "output-validator")] == ["requests", "answers"]


def test_a_fit_in_depth() -> None:
    said = call("logistic").stdout
    assert "answers  The threshold with its 95 % profile-likelihood interval" in said
    assert "kind: logistic, fault: slow-wire" in said


def test_a_component_in_depth() -> None:
    said = " ".join(call("conclude").stdout.split())
    assert "observations (observations.jsonl of each step)" in said
    assert "recording (recording.json)" in said
    assert "python -m chaosgate.components conclude --run RUN --state DIR" in said
    assert "gate  (component, built-in)" in call("gate").stdout


def test_a_prompt_set_in_depth() -> None:
    text = call("json-8").stdout
    said = " ".join(text.split())
    assert "prompts 48, asked in their order and then again the last of them user: `facts train=storm;" in said
    assert "n=lion json beach,horse,north>` its right answer" in said
    assert '{"beach":"basket","horse":"doctor","north":"amber"}`, the same JSON value in any order of its keys' in said
    assert "longest answer 53 characters, for which `maxTokens` must leave room" in said
    assert "example (spec.workload.prompts)\n  {set: json-8}\n" in text


def test_a_set_of_conversations_shows_their_turns_and_one_of_tenants_the_model() -> None:
    said = " ".join(call("multi-turn").stdout.split())
    assert said.count("user: `") == 4
    assert said.count("assistant: `") == 3
    assert "its model the target's with the adapter: `MODEL:tenant-b`" in " ".join(call("two-tenant").stdout.split())
    assert "its model" not in said


def test_without_the_rows_the_source_is_named(tmp_path: Path) -> None:
    said = call("ttft", "--file", tmp_path / "none.yaml").stdout
    assert said.endswith("defined in chaosgate.slis.ttft\n")


@pytest.mark.parametrize("text", ["", "a: 1", "- 5", "[", "\x00"])
def test_another_projects_files_are_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "catalogue.yaml").write_text(text)
    ATOMS.mkdir(parents=True)
    for atom in (text, "spec: {faults: 5}", "spec: {faults: [{kind: wire.latency}, 5]}"):
        (ATOMS / "wire.latency.yaml").write_text(atom)
        said = call("wire.latency")
        assert said.exit_code == 0, said.output
        assert "kind: wire.latency" in said.stdout
        assert said.stdout.endswith("defined in chaosgate.faults.wire.latency\n")


def test_coverage_is_of_all_kinds() -> None:
    said = call("ttft", "--coverage")
    assert (said.exit_code, said.stderr) == (2, "--coverage looks at all kinds; leave KIND out\n")


@pytest.mark.parametrize(
    ("word", "near"), [("wire.latencie", "wire.latency"), ("ttft-p95", "ttft"), ("injekt", "inject")]
)
def test_an_unknown_kind_ends_in_the_nearest(word: str, near: str) -> None:
    said = call(word)
    assert (said.exit_code, said.stderr) == (2, f"unknown kind '{word}'; did you mean '{near}'?\n")


def test_one_that_is_near_nothing_lists_all() -> None:
    said = call("zzz")
    assert said.exit_code == 2
    assert said.stderr.startswith("unknown kind 'zzz'; known: accept-rate, add, answer-accuracy, ")


def test_a_name_of_two_sorts_has_to_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMPONENTS, "ttft", Component("ttft", "measure it", "stranger.steps:run"))
    with pytest.raises(UsageError, match="'ttft' is the name of several; write one of sli/ttft, component/ttft"):
        find_page("ttft")
    assert (find_page("sli/ttft").sort, find_page("component/ttft").status) == ("sli", "plug-in")


# kinds of strangers


def test_a_strangers_fault_that_needs_more_than_is_known_has_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    from chaosgate.faults.wire.latency import WireLatency

    class Picky(WireLatency):
        """A pause of a certain colour."""

        colour: int

    monkeypatch.setitem(FAULTS._kinds, "stranger.picky", Picky)
    page = find_page("stranger.picky")
    assert page.example is None
    assert page.status == "plug-in"
    assert ("colour", True) in [(one.name, one.needed) for one in page.parameters]
    assert "nothing general can be written" in call("stranger.picky").stdout


def test_a_strangers_sli_has_an_example_with_a_bound_of_its_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tempo(Sli):
        """Tokens a second."""

        dimension: ClassVar = "rate"
        statistic: ClassVar = "quantile"

        @staticmethod
        def value(sample: object) -> float | None:
            """Tokens a second."""
            return 1.0

    monkeypatch.setitem(SLIS._kinds, "tempo", Tempo)
    assert find_page("tempo").example == {
        "name": "tempo-p95-holds",
        "sli": "tempo-p95",
        "bound": ">= 10/s",
        "at": {"dose": "all"},
    }


def test_a_strangers_component_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Component("tell-team", "tell the team", "stranger.steps:run", inputs=ports("verdict"))
    monkeypatch.setitem(COMPONENTS, "tell-team", told)
    assert "component   tell-team" in call().stdout
    assert "reads         verdict (verdict.json)" in call("tell-team").stdout
    assert "tell-team" not in catalogue_pages(ROOT)[f"{FOLDER}/components.md"]


# examples


@pytest.mark.parametrize("atoms", [ATOMS, Path("no-such-folder")], ids=["atom", "its own"])
@pytest.mark.parametrize("name", FAULTS.names())
def test_the_example_of_every_fault_can_be_pasted_into_a_spec(name: str, atoms: Path) -> None:
    example = page_of("fault", name, ROOT / atoms).example
    fault = FAULTS.get(name).model_validate(example)
    assert isinstance(fault, Fault)
    spec = yaml.safe_load(EXAMPLE)
    kept = ("same-answers", "back")
    if isinstance(fault, ClusterFault | EngineFault):
        # Nothing tells which pods serve a URL, and no engine but the embedded one carries faults.
        spec["spec"]["target"] = {"engine": "embedded", "model": "embedded/tiny", "replicas": 2}
    spec["spec"] |= {
        "faults": [example],
        "fits": [],
        "objectives": [
            {key: value for key, value in one.items() if key != "fault"}
            for one in spec["spec"]["objectives"]
            if one["name"] in kept
        ],
    }
    assert parse_spec(yaml.safe_dump(spec), "pasted").spec.faults[0].kind == name


@pytest.mark.parametrize("name", SLIS.names())
def test_the_example_of_every_sli_can_be_pasted_into_a_spec(name: str) -> None:
    spec = yaml.safe_load(EXAMPLE)
    spec["spec"]["faults"], spec["spec"]["fits"] = spec["spec"]["faults"][:1], []
    spec["spec"]["objectives"] = [page_of("sli", name).example]
    assert parse_spec(yaml.safe_dump(spec), "pasted").spec.objectives[0].sli in (name, f"{name}-p95")


@pytest.mark.parametrize("name", prompt_sets())
def test_the_example_of_every_prompt_set_can_be_pasted_into_a_spec(name: str) -> None:
    spec = yaml.safe_load(EXAMPLE)
    spec["spec"]["workload"]["prompts"] = page_of("prompt-set", name).example
    assert plan_problems(parse_spec(yaml.safe_dump(spec), "pasted")) == ()


# the generated pages


def test_the_pages_are_written_by_make_generate() -> None:
    written = generated(ROOT)
    assert {name: written[name] for name in PAGES} == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_each_committed_page_is_fresh(name: str) -> None:
    assert (ROOT / name).read_text() == PAGES[name], f"{name} is stale; run `make generate`"


def test_no_page_is_left_over() -> None:
    assert {f"{FOLDER}/{file.name}" for file in (ROOT / FOLDER).iterdir()} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_the_first_line_says_that_it_is_generated(name: str) -> None:
    assert PAGES[name].splitlines()[0] == GENERATED


def test_every_built_in_kind_is_in_the_index_and_has_its_section() -> None:
    index = PAGES[f"{FOLDER}/README.md"]
    for _, name in KINDS:
        link = re.search(rf"\[{re.escape(name)}\]\(([a-z-]+\.md)#", index)
        assert link, name
        assert f"\n## {name}\n" in PAGES[f"{FOLDER}/{link[1]}"]


def dead_links(name: str, text: str) -> list[str]:
    """Links of a page that lead nowhere: a file that is not there, or a heading that the file has not."""
    dead = []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, fragment = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        headings = re.findall(r"^#+ (.+)$", path.read_text(), re.M) if path.suffix == ".md" and path.is_file() else []
        if not path.exists() or (fragment and fragment not in map(anchor, headings)):
            dead.append(target)
    return dead


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve(name: str) -> None:
    assert dead_links(name, PAGES[name]) == []


def test_the_test_of_links_sees_dead_ones() -> None:
    name = f"{FOLDER}/README.md"
    text = "[a](none.md) [b](wire.md#nothing) [c](../../catalogue.yaml) [d](wire.md#wirelatency)"
    assert dead_links(name, text) == ["none.md", "wire.md#nothing"]


@pytest.mark.parametrize(
    ("heading", "fragment"),
    [("wire.latency", "wirelatency"), ("error-rate", "error-rate"), ("The catalogue", "the-catalogue")],
)
def test_anchors_are_those_of_github(heading: str, fragment: str) -> None:
    assert anchor(heading) == fragment


def test_tables_hold_no_stray_bars() -> None:
    for name, text in PAGES.items():
        rows = [line for line in text.splitlines() if line.startswith("|")]
        for row in rows:
            assert re.sub(r"\\\|", "", row).count("|") in (3, 4, 5), f"{name}: {row}"
