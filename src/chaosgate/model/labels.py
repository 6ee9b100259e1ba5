"""Labels as Kubernetes takes them: a spec and a profile with others are refused where they are read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

LABEL_KEY = r"^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
"""The syntax is from https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/."""

LabelKey = Annotated[str, Field(pattern=LABEL_KEY)]
LabelValue = Annotated[str, Field(pattern=LABEL_VALUE)]
Labels = dict[LabelKey, LabelValue]
