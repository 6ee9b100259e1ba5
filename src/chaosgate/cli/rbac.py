"""The command `rbac`: the rights that runs of a spec need on a cluster, as manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosgate.cli.options import SpecOptions, spec_options
from chaosgate.errors import UsageError

if TYPE_CHECKING:
    from chaosgate.model.carrier import Carrier
    from chaosgate.model.spec import ChaosSpec

LISTS = {"rules", "subjects"}
"""Keys whose items stand in a line each."""


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--namespace", help="Namespace of the runs.  [default: the profile's]")
@click.option(
    "--submitter",
    metavar="NAME",
    help="Who submits: a user, or system:serviceaccount:NAMESPACE:NAME.  [default: a role that nobody is bound to]",
)
@spec_options
def rbac(spec: Path, options: SpecOptions, namespace: str | None, submitter: str | None) -> None:
    """Print what an administrator applies so that a spec can be run on a cluster: no right more than it needs."""
    from chaosgate.cli.loading import load
    from chaosgate.deploy.cluster.rbac import rbac_manifests

    found = load(spec, options)
    place = namespace_of(found.carrier, namespace)
    manifests = rbac_manifests(found.spec, place, found.carrier.service_account, submitter)
    click.echo(rbac_text(found.spec, place, manifests), nl=False)


def namespace_of(carrier: Carrier, given: str | None) -> str:
    """The namespace of the runs; a UsageError where neither the command nor its profile names one."""
    from chaosgate.cli.compile import with_options

    place = (with_options(carrier, {"namespace": given}) if given else carrier).namespace
    if place is None:
        raise UsageError(
            "no namespace: name the one in which the steps run with --namespace NAME, or as spec.carrier.namespace of "
            "a profile (--profile FILE)"
        )
    return place


def rbac_text(spec: ChaosSpec, namespace: str, manifests: Sequence[Mapping[str, Any]]) -> str:
    """The manifests as YAML, behind comments that say whose they are and what else an administrator decides."""
    from chaosgate.cluster.names import ALLOWED_LABEL
    from chaosgate.deploy.cluster.rbac import hit_namespaces

    asked = (f"kubectl label namespace {place} {ALLOWED_LABEL}=true" for place in hit_namespaces(spec, namespace))
    head = [
        f"The rights of runs of {spec.metadata.name} in namespace {namespace}.",
        *(f"No fault is injected before who answers for the namespace has said: {words}" for words in asked),
    ]
    return "".join(f"# {line}\n" for line in head) + "".join(map(_document, manifests))


def _document(manifest: Mapping[str, Any]) -> str:
    """A manifest as YAML, its lists of words in one line each."""
    lines = [f"{key}: {_flow(value)}" for key, value in manifest.items() if key not in LISTS]
    for key in LISTS & manifest.keys():
        lines += [f"{key}:", *(f"  - {_flow(item)}" for item in manifest[key])]
    return "\n".join(("---", *lines, ""))


def _flow(value: Any) -> str:
    """A value in one line; JSON's quotes only where YAML needs some."""
    import yaml

    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000).removesuffix("\n...\n").strip()
