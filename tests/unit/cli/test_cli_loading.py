"""What changes a spec on the command line, and where a mistake in each of its files is said to stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from small_drill import write_spec

from chaosgate.cli.loading import carrier_problems, load, load_any
from chaosgate.cli.main import chaosgate
from chaosgate.cli.options import SpecOptions
from chaosgate.components.definition import COMPONENTS, Component, ports, register
from chaosgate.deploy.local import unsupported
from chaosgate.errors import SpecError, UsageError, dotted
from chaosgate.model.carrier import Carrier, ExtraStep, Resources
from chaosgate.model.plan import Plan
from chaosgate.model.profile import Profile
from chaosgate.model.spec import ChaosSpec

HEAD = "apiVersion: chaosgate/v1\nkind: ChaosProfile\nmetadata: {name: p}\nspec:\n"
TELL = Component("team.tell", "tell a team", "nowhere:run", ("channel", "url"), ports("verdict"))


@pytest.fixture(autouse=True)
def _a_component_of_a_plug_in() -> Iterator[None]:
    before = dict(COMPONENTS)
    register(TELL)
    yield
    COMPONENTS.clear()
    COMPONENTS.update(before)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = write_spec(tmp_path)
    text = file.read_text().replace("spec:\n", "spec:\n  parameters: {seed: {type: integer, default: 5}}\n", 1)
    file.write_text(text.replace("seed: 5", 'seed: "{{ parameters.seed }}"'))
    return file


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def refusal(spec: Path, options: SpecOptions) -> list[str]:
    with pytest.raises(SpecError) as refused:
        load(spec, options, unsupported)
    return str(refused.value).replace(f"{spec.parent}/", "").split("\n")


def call(*words: object) -> Result:
    return CliRunner().invoke(chaosgate, [str(word) for word in words])


def test_profile_values_and_settings_change_the_spec(spec: Path, tmp_path: Path) -> None:
    values = written(tmp_path, "values.yaml", "seed: 8\n")
    profile = written(tmp_path, "profile.yaml", HEAD + "  tracking: {experiment: e}\n  carrier: {serviceAccount: me}\n")
    found = load(spec, SpecOptions({}, (values,), profile))
    assert (found.spec.spec.workload.seed, found.spec.spec.tracking.experiment) == (8, "e")
    assert found.carrier.service_account == "me"
    assert load(spec, SpecOptions({"seed": "9"}, (values,))).spec.spec.workload.seed == 9
    assert load(spec, SpecOptions()).carrier == Carrier()


def test_every_file_has_its_say_at_once(spec: Path, tmp_path: Path) -> None:
    spec.write_text(spec.read_text().replace("maxTokens: 2", "maxTokens: 0"))
    values = written(tmp_path, "values.yaml", "seed: five\n")
    profile = written(tmp_path, "profile.yaml", HEAD + "  target: {replica: 2}\n  carrier: {steps: [{component: x}]}\n")
    assert refusal(spec, SpecOptions({}, (values,), profile)) == [
        "small-drill.yaml:10:16 spec.workload.maxTokens: read 0; at least 1 is needed",
        "profile.yaml:5:12 spec.target.replica: unknown key 'replica'; did you mean 'replicas'? "
        "allowed: endpoint, engine, fallback, kubernetes, model, replicas",
        "profile.yaml:6:33 spec.carrier.steps[0].component: unknown component 'x'; known: team.tell",
        "values.yaml:1:7 seed: read 'five'; write a whole number",
    ]


def test_what_the_carrier_cannot_do_is_said_where_the_profile_asks_for_it(spec: Path, tmp_path: Path) -> None:
    profile = written(tmp_path, "profile.yaml", HEAD + "  target:\n    replicas: 3\n")
    assert refusal(spec, SpecOptions(profile=profile)) == [
        "profile.yaml:6:15 spec.target.replicas: read 3; on one machine the embedded engine runs as 1 replica"
    ]
    assert load(spec, SpecOptions(profile=profile)).spec.spec.target.replicas == 3


def test_a_file_holds_a_spec_or_a_profile(spec: Path, tmp_path: Path) -> None:
    profile = written(tmp_path, "profile.yaml", HEAD + "  tracking: {}\n")
    assert isinstance(load_any(spec, SpecOptions()), ChaosSpec)
    assert isinstance(load_any(profile, SpecOptions()), Profile)


@pytest.mark.parametrize(
    ("carrier", "says"),
    [
        (
            Carrier(resources={"mesure": Resources(cpu="1")}),
            ["spec.carrier.resources.mesure: unknown component 'mesure'; did you mean 'measure'?"],
        ),
        (
            Carrier(steps=(ExtraStep(component="team.tel"),)),
            ["spec.carrier.steps[0].component: unknown component 'team.tel'; did you mean 'team.tell'?"],
        ),
        (
            Carrier(steps=(ExtraStep(component="gate"),)),
            [
                "spec.carrier.steps[0].component: read 'gate', which every plan has; "
                "an extra step runs a component of a plug-in"
            ],
        ),
        (
            Carrier(steps=(ExtraStep(component="team.tell", arguments={"channel": "#drills"}),)),
            ["spec.carrier.steps[0].arguments.url: is missing; component 'team.tell' needs channel, url"],
        ),
        (
            Carrier(steps=(ExtraStep(component="team.tell", arguments={"chanel": "#drills", "url": "http://a"}),)),
            [
                "spec.carrier.steps[0].arguments.chanel: unknown argument of 'team.tell' 'chanel'; "
                "did you mean 'channel'?"
            ],
        ),
        (
            Carrier(steps=(ExtraStep(component="team.tell", arguments={"channel": "c", "url": "u"}),) * 2),
            [
                "spec.carrier.steps[1].component: 'team.tell' makes a step 'team-tell', and so does "
                "spec.carrier.steps[0]; remove one"
            ],
        ),
        (
            Carrier(
                steps=(
                    ExtraStep(component="team.tell", arguments={"channel": "c", "url": "u"}),
                    ExtraStep(component="team-tell"),
                )
            ),
            [
                "spec.carrier.steps[1].component: 'team-tell' makes a step 'team-tell', and so does "
                "spec.carrier.steps[0]; remove one"
            ],
        ),
        (
            Carrier(
                resources={"team.tell": Resources(cpu="1"), "measure": Resources(memory="1Gi")},
                steps=(ExtraStep(component="team.tell", arguments={"channel": "c", "url": "u"}),),
            ),
            [],
        ),
    ],
)
def test_components_of_a_carrier_are_known_and_get_their_arguments(carrier: Carrier, says: list[str]) -> None:
    assert [f"{dotted(one.path)}: {one.message}" for one in carrier_problems(carrier)] == says


STEPS = HEAD + "  carrier:\n    steps:\n      - {component: team.tell, arguments: {channel: ops, url: http://a}}\n"


def test_an_unknown_component_is_placed_in_the_profile(spec: Path, tmp_path: Path) -> None:
    profile = written(tmp_path, "profile.yaml", STEPS.replace("team.tell", "team.shout"))
    says = (
        "profile.yaml:7:21 spec.carrier.steps[0].component: unknown component 'team.shout'; did you mean 'team.tell'?"
    )
    assert refusal(spec, SpecOptions(profile=profile)) == [says]
    assert call("validate", profile).stderr == f"{tmp_path}/{says}\n"


# the options on the commands


def test_plan_and_run_take_the_extra_steps_of_a_profile(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = written(tmp_path, "profile.yaml", STEPS)
    planned = call("plan", spec, "--profile", profile, "-o", "json")
    assert planned.exit_code == 0
    (step,) = [step for step in json.loads(planned.stdout)["steps"] if step["component"] == "team.tell"]
    assert step["arguments"] == {"channel": "ops", "url": "http://a"}
    plans: list[Plan] = []

    def refuse(spec: ChaosSpec, plan: Plan, *rest: object) -> None:
        plans.append(plan)
        raise UsageError("far enough")

    monkeypatch.setattr("chaosgate.run.local.run_locally", refuse)
    ran = call("run", spec, "--profile", profile, "--set", "seed=6", "--state", tmp_path / "state")
    assert ran.stderr == "far enough\n"
    assert [step.component for step in plans[0].steps][-1] == "team.tell"


def test_later_values_files_win_and_set_over_all(spec: Path, tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.yaml", "seed: 8\n"), written(tmp_path, "b.yaml", "seed: 9\n")

    def digest(*words: object) -> str:
        return str(json.loads(call("validate", spec, *words, "-o", "json").stdout)[0]["specDigest"])

    eight, nine = digest("--set", "seed=8"), digest("--set", "seed=9")
    assert eight != nine
    assert digest("--values", first, "--values", second) == nine
    assert digest("--values", second, "--values", first) == eight
    assert digest("--values", second, "--set", "seed=8") == eight


def test_validate_names_a_profile_as_one(tmp_path: Path) -> None:
    profile = written(tmp_path, "profile.yaml", HEAD.replace("name: p", "name: staging") + "  tracking: {}\n")
    said = call("validate", profile)
    assert (said.exit_code, said.stdout) == (0, f"{profile}: valid: staging profile\n")
    (report,) = json.loads(call("validate", profile, "-o", "json").stdout)
    assert report == {
        "file": str(profile),
        "kind": "ChaosProfile",
        "name": "staging",
        "specDigest": None,
        "problems": [],
    }


def test_validate_of_many_specs_says_what_is_wrong_with_the_profile_once(spec: Path, tmp_path: Path) -> None:
    profile = written(tmp_path, "profile.yaml", HEAD + "  faults: []\n")
    said = call("validate", spec, spec, "--profile", profile)
    assert said.exit_code == 2
    assert said.stderr == (
        f"{profile}:5:3 spec.faults: read 'faults', which is the same in every environment; "
        "a profile holds target, tracking, safety, metrics, carrier\n"
    )
    reports = json.loads(call("validate", spec, "--profile", profile, "-o", "json").stdout)
    assert [problem["file"] for report in reports for problem in report["problems"]] == [str(profile)]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("ChaosProfil", "read 'ChaosProfil'; write 'ChaosProfile'"),
        ("Deployment", "unknown kind 'Deployment'; known: ChaosProfile, ChaosSpec"),
    ],
)
def test_validate_knows_the_kinds(tmp_path: Path, kind: str, says: str) -> None:
    file = written(tmp_path, "file.yaml", HEAD.replace("ChaosProfile", kind) + "  tracking: {}\n")
    assert call("validate", file).stderr == f"{file}:2:7 kind: {says}\n"


@pytest.mark.parametrize("verb", ["plan", "run", "compile"])
def test_a_profile_is_no_spec_to_run(tmp_path: Path, verb: str) -> None:
    file = written(tmp_path, "file.yaml", HEAD + "  tracking: {}\n")
    said = call(verb, file, *(["--to", "argo"] if verb == "compile" else []))
    assert (said.exit_code, said.stderr) == (
        2,
        f"{file}:2:7 kind: read 'ChaosProfile'; a profile goes with a spec: "
        "name the spec here, and this file with --profile\n",
    )


@pytest.mark.parametrize("option", ["--profile", "--values"])
@pytest.mark.parametrize("verb", ["validate", "plan", "run"])
def test_a_file_that_is_not_there_is_named(spec: Path, tmp_path: Path, option: str, verb: str) -> None:
    said = call(verb, spec, option, tmp_path / "none.yaml")
    assert said.exit_code == 2
    assert said.stderr.startswith(f"{tmp_path}/none.yaml (document): cannot be read: No such file or directory; name")
