"""What the patterns of fields ask for, in words. Only who tells a mistake needs it: it imports every model."""

from __future__ import annotations

from chaosgate.model.base import ENVIRONMENT_NAME, NAME_PATTERN
from chaosgate.model.carrier import DEFAULT_IMAGE, IMAGE, QUANTITY, SECRET_KEY
from chaosgate.model.gauges import HEADER_PATTERN, QUERY_PATTERN, SERVER_PATTERN
from chaosgate.model.labels import LABEL_KEY, LABEL_VALUE
from chaosgate.model.safety import CLOCK_PATTERN, END_PATTERN, SENTENCE_PATTERN
from chaosgate.model.spec import EXPERIMENT_PATTERN, SUBDOMAIN_PATTERN, URL_PATTERN

PATTERNS = {
    NAME_PATTERN: "a name is lower case letters, digits and hyphens between them, at most 63 (a DNS label)",
    URL_PATTERN: "write an http:// or https:// URL",
    SERVER_PATTERN: "write an http:// or https:// URL without a query",
    HEADER_PATTERN: "write the name of an HTTP header, such as X-Scope-OrgID",
    QUERY_PATTERN: "write a query in PromQL",
    EXPERIMENT_PATTERN: "write letters, digits, spaces and . _ / -, a letter or digit first",
    QUANTITY: "write a Kubernetes quantity such as 250m or 512Mi",
    ENVIRONMENT_NAME: "write the name of an environment variable, such as MLFLOW_TRACKING_URI",
    SUBDOMAIN_PATTERN: "a name is lower case letters, digits, hyphens and dots between them (a DNS subdomain)",
    CLOCK_PATTERN: 'write a time of day in quotes such as "09:30"',
    END_PATTERN: 'write a time of day in quotes such as "17:00", or "24:00" for the end of the day',
    SENTENCE_PATTERN: "write a sentence",
    LABEL_KEY: "a label's key is at most 63 letters, digits, '-', '_' and '.', a letter or digit first and last, after "
    "an optional DNS name and a slash, such as example.com/team",
    LABEL_VALUE: "a label's value is at most 63 letters, digits, '-', '_' and '.', a letter or digit first and last",
    SECRET_KEY: "the key of a Secret is letters, digits, '-', '_' and '.'",
    IMAGE: f"write an image with its tag or digest, such as {DEFAULT_IMAGE}",
}
"""By pattern."""
