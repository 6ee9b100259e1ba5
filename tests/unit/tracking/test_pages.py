from __future__ import annotations

from dataclasses import replace

from tracked_runs import SUBJECT, latency, spec, tracked_run

from chaosgate.model.result import Verdict
from chaosgate.model.safety import Override
from chaosgate.model.scorer import ScorerCard
from chaosgate.tracking.pages import MAX_REASON, fault_page, run_page


def test_the_parameters_are_the_spec_laid_flat() -> None:
    params = run_page(tracked_run()).params
    assert params["spec.name"] == "stream-degradation"
    assert params["spec.apiVersion"] == "chaosgate/v1"
    assert params["seed"] == "7"
    assert params["fault.slow-wire.kind"] == "wire.latency"
    assert params["fault.slow-wire.dose.values"] == "100ms, 180ms"
    assert params["load.arrivals.rate"] == "20/s"
    assert params["slo.steady-state.ttft-p95"] == "<= 300ms"
    assert params["slo.first-token.bound"] == "<= 500ms"


def test_the_tags_say_verdict_reason_subject_and_commit() -> None:
    tags = run_page(tracked_run()).tags
    assert tags["chaosgate.run"] == "r1"
    assert tags["chaosgate.verdict"] == "warn"
    assert tags["chaosgate.reason"] == "first-token: 310ms, close to 500ms"
    assert tags["chaosgate.spec_digest"] == spec().digest()
    assert tags["chaosgate.engine"] == "embedded"
    assert tags["subject.model"] == "embedded/tiny"
    assert tags["subject.arguments"] == '{"seed":7}'
    assert tags["mlflow.source.git.commit"] == "0123abc"
    assert "subject.imageDigest" not in tags


def test_only_the_commit_of_the_environment_is_uploaded() -> None:
    assert "3.11" not in {*run_page(tracked_run()).tags.values(), *run_page(tracked_run()).params.values()}


def test_outside_a_repository_there_is_no_commit_tag() -> None:
    record = tracked_run().record.model_copy(update={"environment": {}})
    assert "mlflow.source.git.commit" not in run_page(tracked_run(record=record)).tags


def test_a_long_reason_is_cut_for_the_table() -> None:
    verdict = Verdict.model_validate({"verdict": "fail", "reasons": [{"verdict": "fail", "text": "x" * 900}]})
    assert len(run_page(tracked_run(verdict=verdict)).tags["chaosgate.reason"]) == MAX_REASON


def test_a_run_without_estimates_or_subject_still_has_a_page() -> None:
    error = Verdict(verdict="error", reasons=())
    record = tracked_run().record.model_copy(update={"subject": None})
    bare = tracked_run(verdict=error, record=record, estimates=None, fits=None, injections=())
    assert run_page(bare).points == ()
    assert run_page(bare).tags["chaosgate.reason"] == ""
    assert not any(tag.startswith("subject.") for tag in run_page(bare).tags)
    assert fault_page(bare, bare.spec.spec.faults[0]).points == ()


def test_a_child_holds_its_own_fault_only() -> None:
    two = tracked_run(spec=spec(faults=[latency(), latency("other-wire", jitter="0s")]))
    mine = fault_page(two, two.spec.fault("slow-wire"))
    other = fault_page(two, two.spec.fault("other-wire"))
    assert mine.params["fault.jitter"] == "5ms"
    assert mine.tags["chaosgate.fault"] == "slow-wire"
    keys = {point.key for point in mine.points}
    assert {"dose-180ms/ttft-p95_s", "fit/knee_value", "witness/during_s", "series/dose_s"} <= keys
    assert other.points == ()


def test_with_several_faults_the_parent_says_whose_dose_it_was() -> None:
    two = tracked_run(spec=spec(faults=[latency(), latency("other-wire")]))
    assert "slow-wire/dose-le-180ms/ttft-p95_s" in {point.key for point in run_page(two).points}
    assert "dose-le-180ms/ttft-p95_s" in {point.key for point in run_page(tracked_run()).points}


def test_the_subject_of_the_record_stands_in_for_the_verdicts() -> None:
    verdict = Verdict(verdict="pass", reasons=(), subject=None)
    assert run_page(tracked_run(verdict=verdict)).tags["subject.model"] == SUBJECT.model


def test_runs_are_found_by_the_rules_that_did_not_hold() -> None:
    overrides = (Override(rule="min-healthy", reason="there is but one copy"),)
    record = tracked_run().record.model_copy(update={"overrides": overrides})
    assert run_page(tracked_run(record=record)).tags["chaosgate.overrides"] == "min-healthy"
    assert "chaosgate.overrides" not in run_page(tracked_run()).tags


def test_the_scorers_of_a_run_are_tags_with_version_and_digest() -> None:
    there = ScorerCard(name="wordllama", slis=("semantic-similarity",), version="0.4.0", digest="sha256:" + "c" * 64)
    missing = ScorerCard(name="profanity-check", slis=("toxicity",), reason="the package is not installed")
    run = tracked_run()
    assert run.estimates is not None
    tags = run_page(replace(run, estimates=run.estimates.model_copy(update={"scorers": (there, missing)}))).tags
    assert tags["scorer.wordllama"] == "0.4.0 sha256:" + "c" * 64
    assert tags["scorer.profanity-check"] == "the package is not installed"
    assert not [name for name in run_page(run).tags if name.startswith("scorer")]
