#!/bin/sh
# Runs before every job of a bench host's runner (ACTIONS_RUNNER_HOOK_JOB_STARTED), and accepts only
# bench.yml of the main branch. A pull request brings its own workflow files, so no file in the
# repository can prevent it from requesting a bench host; this file on the host can. GitHub sets the
# variables, and a workflow cannot override them. The file name must end in .sh: otherwise
# actions/runner fails every job (src/Runner.Common/HostContext.cs, GetDefaultShellForScript).
set -eu
repository=$(cat "$(dirname "$0")/repository") # beside it, written by scripts/bench-host

refuse() {
  echo "job-gate: refused: $1 is '$2', expected $3" >&2
  exit 1
}
[ "$GITHUB_REPOSITORY" = "$repository" ] ||
  refuse GITHUB_REPOSITORY "$GITHUB_REPOSITORY" "$repository"
case $GITHUB_EVENT_NAME in
  workflow_dispatch | schedule) ;;
  *) refuse GITHUB_EVENT_NAME "$GITHUB_EVENT_NAME" "workflow_dispatch or schedule" ;;
esac
expected=$repository/.github/workflows/bench.yml@refs/heads/main
[ "$GITHUB_WORKFLOW_REF" = "$expected" ] ||
  refuse GITHUB_WORKFLOW_REF "$GITHUB_WORKFLOW_REF" "$expected"
