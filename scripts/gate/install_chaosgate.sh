#!/usr/bin/env bash
# Puts the command chaosgate on the PATH of the job's later steps.
# CHAOSGATE_REQUIREMENT is what pip installs, such as `chaosgate[argo,kfp]==0.1.0`; where it is empty, this very commit is
# installed with its locked dependencies, whose hashes are checked.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${GITHUB_PATH:?is not set; this script is a step of a GitHub workflow}"

if [[ -z ${CHAOSGATE_REQUIREMENT:-} ]]; then
  make -C "$root" setup
  environment=$root/.venv
else
  environment=$root/.gate-venv
  "${PYTHON:-python3}" -m venv "$environment"
  # `--` keeps a requirement from being read as an option, such as another index.
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -- "$CHAOSGATE_REQUIREMENT"
fi
"$environment/bin/chaosgate" --version
echo "$environment/bin" >>"$GITHUB_PATH"
