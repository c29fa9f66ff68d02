"""The promises of SECURITY.md about workflows, checked against the workflow files."""

import re
from pathlib import Path

import pytest
import yaml

from workflows import Job, Workflow, read_action, read_workflow, workflow_in

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: read_workflow(path) for path in sorted(FOLDER.glob("*.yml"))}

STRANGERS = {"pull_request", "pull_request_target", "pull_request_review", "issues", "fork",
             "pull_request_review_comment", "issue_comment", "discussion", "discussion_comment",
             "workflow_run", "workflow_call", "repository_dispatch", "push", "watch", "merge_group",
             "check_run", "check_suite", "status"}  # fmt: skip
"""Events that somebody without rights in the repository can cause, or that come from another
workflow.
"""

MAINTAINERS = {"workflow_dispatch", "schedule"}

READS = {"contents": "read"}
RIGHTS = {
    ("counts", "store"): {"contents": "write"},
    ("pages", "build"): {**READS, "pages": "read"},
    ("pages", "deploy"): {"pages": "write", "id-token": "write"},
    ("bench", "propose"): {"contents": "write", "pull-requests": "write", "actions": "write"},
    ("new-versions", "propose"): {**READS, "issues": "write"},
}
"""The permissions of every job that has others than READS: a new one must be added here too."""


ACTION = read_action(ROOT / "action.yml")
PAGE = workflow_in(ROOT / "docs" / "pull-requests.md")
"""What others copy to use the action."""

PUSHING = {
    "scripts/open-issue build/new-versions.md",
    "scripts/open-pull-request",
    "scripts/store-nights",
}
"""Scripts of the jobs that can write, which run git and `gh` alone."""


def each_job() -> list[tuple[Workflow, Job]]:
    return [(workflow, job) for workflow in WORKFLOWS.values() for job in workflow.jobs.values()]


def name_of(value: object) -> str | None:
    return value.path.stem if isinstance(value, Workflow) else getattr(value, "id", None)


def test_every_job_with_more_rights_exists_and_every_workflow_is_read() -> None:
    assert {(w.path.stem, job.id) for w, job in each_job()} >= RIGHTS.keys()
    assert not list(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_every_action_is_pinned_by_commit_with_its_tag_beside_it(workflow: Workflow) -> None:
    uses = [line for line in workflow.text.splitlines() if re.match(r"\s*(- )?uses:", line)]
    assert len(uses) == sum(bool(step.uses) for job in workflow.jobs.values() for step in job.steps)
    for line in uses:
        assert re.fullmatch(r"\s*(- )?uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), (
            line
        )


def test_one_action_has_one_commit() -> None:
    texts = [*(w.text for w in WORKFLOWS.values()), ACTION.text, PAGE.text]
    lines = re.findall(r"uses: (\S+)@(\S+ # \S+)", "".join(texts))
    assert len({action for action, _ in lines}) == len(set(lines))


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_a_job_has_the_rights_it_needs_and_no_others(workflow: Workflow, job: Job) -> None:
    assert workflow.permissions == {}
    assert job.permissions == RIGHTS.get((workflow.path.stem, job.id), READS)


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_no_stranger_starts_a_job_on_our_machines_or_with_write_access(
    workflow: Workflow, job: Job
) -> None:
    can_write = "write" in (job.permissions or {}).values()
    if job.self_hosted:
        assert workflow.events.keys() <= MAINTAINERS
        assert not can_write
    if can_write and workflow.path.stem != "pages":
        assert workflow.events.keys() <= MAINTAINERS
    if workflow.path.stem == "pages":  # a maintainer merged what is on main
        assert workflow.events.keys() == {"push", "schedule", "workflow_dispatch"}
        assert workflow.events["push"] == {"branches": ["main"]}


def test_strangers_and_maintainers_events_do_not_overlap_and_cover_those_in_use() -> None:
    used = {event for workflow in WORKFLOWS.values() for event in workflow.events}
    assert not STRANGERS & MAINTAINERS
    assert used <= STRANGERS | MAINTAINERS
    assert "pull_request_target" not in used
    assert "workflow_run" not in used


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_checkouts_leave_no_token_behind(workflow: Workflow, job: Job) -> None:
    for step in job.steps:
        if step.action == "actions/checkout":
            assert step.inputs.get("persist-credentials") is False


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_no_expression_is_pasted_into_shell_text(workflow: Workflow, job: Job) -> None:
    for step in job.steps:
        assert "${{" not in (step.run or ""), step.name
        assert step.inputs.get("script") is None


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_no_secret_is_used_and_a_token_only_by_steps_that_need_it(
    workflow: Workflow, job: Job
) -> None:
    assert "secrets." not in workflow.text
    holders = [step.run for step in job.steps if "github.token" in str(step.env)]
    assert set(holders) <= PUSHING
    assert "github.token" not in str(job.env) + str(workflow.env)
    if job.self_hosted:
        assert holders == []


@pytest.mark.parametrize(("workflow", "job"), each_job(), ids=name_of)
def test_a_job_that_can_write_installs_and_builds_nothing(workflow: Workflow, job: Job) -> None:
    if "write" not in (job.permissions or {}).values():
        return
    actions = {"actions/checkout", "actions/download-artifact", "actions/deploy-pages"}
    for step in job.steps:
        assert (step.action or step.run) in actions | PUSHING, step.name


def test_a_host_measures_one_run_at_a_time_and_only_the_main_branch() -> None:
    measure = WORKFLOWS["bench"].jobs["measure"]
    assert measure.self_hosted
    assert measure.concurrency == {
        "group": "bench-${{ matrix.host }}",
        "cancel-in-progress": False,
    }
    for job in WORKFLOWS["bench"].jobs.values():
        assert "github.ref == 'refs/heads/main'" in (job.condition or "")


def test_the_host_is_checked_before_measuring_and_reset_whatever_happens() -> None:
    steps = WORKFLOWS["bench"].jobs["measure"].steps
    runs = [step.run or step.action or "" for step in steps]

    def place(part: str) -> int:
        (index,) = [n for n, run in enumerate(runs) if part in run]
        return index

    order = ["host check", "host tune", "scripts/measure", "pack", "upload-artifact", "host reset"]
    assert [place(part) for part in order] == sorted(place(part) for part in order)
    assert steps[place("host reset")].condition == "always()"
    assert all(step.condition is None for step in steps[: place("host reset")])


def test_the_form_offers_every_existing_suite() -> None:
    suite = WORKFLOWS["bench"].events["workflow_dispatch"]["inputs"]["suite"]
    files = (ROOT / "bench" / "suites").glob("[!_]*.toml")
    # Counts need no bench host: they are the same on any machine.
    counts = {"calls", "calls-threads", "instructions", "nightly", "replay", "wire"}
    # A bench host has no web server, and the versions of Debian's packages change under it.
    servers = {"servers"}
    expected = {path.stem for path in files} - counts - servers
    found = set(suite["options"])
    assert found == expected, (
        ".github/workflows/bench.yml, on.workflow_dispatch.inputs.suite.options: "
        f"add {', '.join(sorted(expected - found)) or 'nothing'}, "
        f"remove {', '.join(sorted(found - expected)) or 'nothing'}"
    )


def test_no_job_waits_for_a_machine_that_does_not_exist() -> None:
    jobs = WORKFLOWS["bench"].jobs
    assert "&& vars.BENCH_HOSTS" in (jobs["measure"].condition or "")
    text = WORKFLOWS["bench"].text
    matrices = re.findall(r"host: \$\{\{ fromJSON\((.*)\) \}\}", text)
    assert len(matrices) == len(jobs)
    for matrix in matrices:
        assert matrix.endswith("|| vars.BENCH_HOSTS"), matrix


def test_a_fork_is_fetched_before_the_build_and_never_published() -> None:
    jobs = WORKFLOWS["bench"].jobs
    runs = [step.run or "" for step in jobs["measure"].steps]
    assert runs.index("scripts/fetch-source") < runs.index("make libraries")
    for job in (jobs["draft"], jobs["propose"]):
        assert "&& !inputs.source" in (job.condition or "")


def test_steps_are_make_targets_scripts_or_one_program() -> None:
    """Each step can be run outside GitHub."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for workflow, job in each_job():
        for step in job.steps:
            if step.run is None:
                continue
            place = f"{workflow.path.name}: {step.run}"
            assert "\n" not in step.run.strip(), place
            words = step.run.split()
            if words[0] == "make":
                (target,) = [w for w in words[1:] if not w.startswith("-")][:1]
                assert target in targets, place
            elif words[0].startswith("scripts/"):
                assert (ROOT / words[0]).stat().st_mode & 0o111, place
            else:
                assert words[0] in {"sudo", "bench/target/release/tlsbench"}, place


def test_every_library_with_a_main_branch_is_counted_by_night() -> None:
    text = WORKFLOWS["counts"].text
    files = sorted((ROOT / "bench" / "libraries").glob("*/library.toml"))
    mains = [path.parent.name for path in files if "[main]" in path.read_text(encoding="utf-8")]
    (listed,) = re.findall(r"library: \[([^]]*)\]", text)
    assert sorted(listed.split(", ")) == mains


def test_every_build_uses_the_lock_files() -> None:
    files = [ROOT / "Makefile", *sorted((ROOT / "scripts").iterdir())]
    files += sorted((ROOT / "bench" / "runner" / "src").rglob("*.rs"))
    found = 0
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        # Without comments, and the help beside targets.
        text = "\n".join(line.partition("## ")[0] for line in lines if line[:1] != "#")
        for match in re.finditer(r'cargo (build|test|clippy|install)\b|"build", "--release"', text):
            line = text[match.start() :].partition("\n")[0]
            found += 1
            assert "--locked" in line, f"{path.name}: {line}"
    assert found > 8


def test_the_reader_of_workflows_finds_all_parts(tmp_path: Path) -> None:
    path = tmp_path / "w.yml"
    path.write_text(
        yaml.safe_dump(
            {
                "on": ["push"],
                "jobs": {
                    "own": {
                        "runs-on": ["self-hosted", "linux"],
                        "steps": [{"uses": "a/b@c", "with": {"x": 1}}, {"run": "make", "if": "i"}],
                    },
                    "hosted": {"runs-on": "ubuntu-24.04", "steps": []},
                    "group": {"runs-on": "bare-metal", "steps": []},
                },
            }
        ).replace("'on'", "on")
    )
    workflow = read_workflow(path)
    assert set(workflow.events) == {"push"}
    assert workflow.permissions is None
    assert workflow.jobs["own"].permissions is None
    assert [job.self_hosted for job in workflow.jobs.values()] == [True, False, True]
    uses, run = workflow.jobs["own"].steps
    assert (uses.action, uses.inputs, run.run, run.condition) == ("a/b", {"x": 1}, "make", "i")


def test_our_action_pastes_no_input_into_shell_text_and_pins_what_it_uses() -> None:
    assert {step.action for step in ACTION.steps if step.uses} == {"actions/cache"}
    for step in ACTION.steps:
        assert "${{" not in (step.run or ""), step.name
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.uses or f"a@{'0' * 40}")
    assert "secrets." not in ACTION.text
    assert "github.token" not in ACTION.text


def test_the_workflow_to_copy_can_only_read_and_is_not_started_with_rights() -> None:
    assert PAGE.events == {"pull_request": None, "push": {"branches": ["main"]}}
    assert PAGE.permissions == {}
    (job,) = PAGE.jobs.values()
    assert job.permissions == {"contents": "read"}
    assert not job.self_hosted
    for step in job.steps:
        assert "${{" not in (step.run or ""), step.name
        if step.action == "actions/checkout":
            assert step.inputs["persist-credentials"] is False
    (ours,) = [step for step in job.steps if step.inputs.keys() & {"base", "head"}]
    assert ACTION.required <= ours.inputs.keys() <= ACTION.required | ACTION.inputs.keys()
